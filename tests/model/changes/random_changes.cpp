// A model after random structural changes must equal a model that was built in that form from the
// start.
#include <map>
#include <random>

#include "changing.h"
#include "crescent/model/rewire.h"

using namespace crescent;
using namespace crescent::changing;

namespace {

using Flags = std::map<const Layer*, bool>;

/// A model of layers of one width that can be in any order, and the operations that change it.
class ChangingModel {
 public:
  explicit ChangingModel(unsigned seed, bool functional) : random_(seed) {
    inner_model_ = Sequential::make({first_dense(), dense()}, "inner");
    holder_ = std::make_shared<Holder>(dense());
    holder_->set_name("holder");
    middle_model_ = Sequential::make({inner_model_, holder_}, "middle");
    if (functional) {
      const Symbol in = Input({kWidth});
      model_ = Functional::make({in}, {(*dense())((*middle_model_)(in))}, "model");
    } else {
      stack_ = Sequential::make({first_dense(), middle_model_, dense()}, "model");
      model_ = stack_;
    }
    compile();
  }

  Model& model() { return *model_; }
  const Flags& flags() const { return flags_; }

  std::string change() {
    std::vector<Layer*> all = model_->flatten_layers();
    switch (random_below(10)) {
      case 0:
        return inner_model_->add(random_layer()), "add to inner";
      case 1:
        return inner_model_->layers().size() > 1 ? (inner_model_->pop(), "pop of inner")
                                                 : "nothing";
      case 2:
        return middle_model_->add(random_layer()), "add to middle";
      case 3:
        return holder_->set_head(random_layer()), "another head";
      case 4:
        return all[static_cast<size_t>(random_below(static_cast<int>(all.size())))]->set_trainable(
                   random_below(2) == 0),
               "trainable";
      case 5:
        return compile(), "compile";
      case 6:
        return stack_ ? (stack_->add(random_layer()), "add") : "nothing";
      case 7:
      case 8:
        return exchange_top(), "rewire";
      default:
        return stack_ && stack_->layers().back()->class_name() != "Sequential"
                   ? (stack_->pop(), "pop")
                   : "nothing";
    }
  }
  /// Records the current `trainable` flags of layers that are new.
  void record_new_flags() {
    for (const Layer* layer : model_->flatten_layers()) flags_.emplace(layer, layer->trainable());
  }

 private:
  int random_below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  LayerPtr random_layer() {
    kept_layers_.push_back(random_below(3) == 0 ? make<Layer>("BatchNormalization") : dense());
    return kept_layers_.back();
  }
  /// Replaces the model by one with another last layer, or with one layer more.
  void exchange_top() {
    const LayerPtr top = model_->layers().back(), new_layer = random_layer();
    const Symbol output = model_->outputs().front();
    model_ = random_below(2) == 0 && top != middle_model_
                 ? rewire(*model_, {{top, new_layer}}, "model")
                 : rewire(*model_, {{output, (*new_layer)(output)}}, "model");
    stack_ = nullptr;
    compile();
  }
  void compile() {
    changing::compile(*model_);
    flags_.clear();
    record_new_flags();
  }

  std::mt19937 random_;
  std::vector<LayerPtr>
      kept_layers_;  // kept alive, so that addresses of layers in flags are not reused
  std::shared_ptr<Sequential> inner_model_, middle_model_, stack_;
  std::shared_ptr<Holder> holder_;
  ModelPtr model_;
  Flags flags_;
};

/// A new layer of the same structure with the flags of the last compile.
LayerPtr rebuilt(const Layer& layer, const Flags& flags) {
  LayerPtr result;
  if (auto* stack = dynamic_cast<const Sequential*>(&layer)) {
    std::vector<LayerPtr> layers{make<Layer>("InputLayer", {{"input_shape", List{kWidth}}})};
    for (const LayerPtr& sublayer : stack->layers()) layers.push_back(rebuilt(*sublayer, flags));
    result = Sequential::make(layers);
  } else if (auto* holder = dynamic_cast<const Holder*>(&layer)) {
    result = std::make_shared<Holder>(rebuilt(*holder->head(), flags));
  } else if (auto* graph = dynamic_cast<const Functional*>(&layer)) {
    const Symbol in = Input({kWidth});
    Symbol x = in;
    for (const LayerPtr& sublayer : graph->layers())
      if (sublayer->class_name() != "InputLayer") x = (*rebuilt(*sublayer, flags))(x);
    result = Functional::make({in}, {x});
  } else {
    Dict config = layer.get_config();
    config.erase("name"), config.erase("batch_input_shape");
    result = make<Layer>(layer.class_name(), config);
  }
  return result;
}

/// Copies flags from the layers of `from` to those at the same positions of `to`.
void set_flags(Layer& to, const Layer& from, const Flags& flags) {
  to.set_trainable(flags.at(&from));
  auto sublayers_of = [](const Layer& layer) {
    std::vector<LayerPtr> sublayers;
    for (const LayerPtr& sublayer : layer.sublayers())
      if (sublayer->class_name() != "InputLayer") sublayers.push_back(sublayer);
    return sublayers;
  };
  const std::vector<LayerPtr> a = sublayers_of(to), b = sublayers_of(from);
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) set_flags(*a[i], *b[i], flags);
}

}  // namespace

TEST_CASE("a model that was changed in random ways is as one made like that") {
  const Warnings warning_collector;
  const Tensor x = data(), y = data(8, 6);
  const bool functional = GENERATE(false, true);
  for (unsigned seed = 1; seed <= 4; ++seed) {
    set_random_seed(static_cast<int64_t>(seed));
    ChangingModel changing_model(seed, functional);
    std::string history;
    for (int i = 0; i < 30; ++i) {
      history += changing_model.change() + "; ";
      Model& model = changing_model.model();
      CAPTURE(seed, functional, history);
      (void)model.predict({x});  // builds the layers that were added
      changing_model.record_new_flags();
      auto rebuilt_model = std::dynamic_pointer_cast<Model>(rebuilt(model, changing_model.flags()));
      (void)rebuilt_model->predict({x});
      set_flags(*rebuilt_model, model, changing_model.flags());
      compile(*rebuilt_model);
      auto layers = [](Model& m) {
        Tensors values;
        for (Layer* layer : m.flatten_layers())
          if (layer->sublayers().empty())
            for (const Variable& v : layer->weights()) values.push_back(v.value().clone());
        return values;
      };
      auto copy = [&](Model& to, Model& from) {
        std::vector<Layer*> a = to.flatten_layers(), b = from.flatten_layers();
        REQUIRE(a.size() == b.size());
        for (size_t k = 0; k < a.size(); ++k)
          if (a[k]->sublayers().empty()) a[k]->set_weights(b[k]->get_weights());
      };
      copy(*rebuilt_model, model);
      REQUIRE(are_near(model.predict({x}), rebuilt_model->predict({x})));
      REQUIRE(model.output_shape() == rebuilt_model->output_shape());
      for (int step = 0; step < 2; ++step) {
        const double a = model.train_on_batch({x}, {y}, {}, {}, true).front().second;
        const double b = rebuilt_model->train_on_batch({x}, {y}, {}, {}, true).front().second;
        REQUIRE(a == Approx(b).epsilon(1e-4));
        REQUIRE(are_near(layers(model), layers(*rebuilt_model)));
      }
      REQUIRE(are_near(model.predict({x}), rebuilt_model->predict({x})));
    }
  }
}
