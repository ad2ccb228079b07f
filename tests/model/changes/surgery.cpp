// Methods that insert, replace and remove layers, cut parts out of models, and change inputs.
#include "crescent/model/surgery.h"

#include <functional>
#include <random>

#include "changing.h"

using namespace crescent;
using namespace crescent::changing;
using Catch::Contains;

namespace {

LayerPtr identity(const std::string& kind, const std::string& name) {
  if (kind == "Dropout") return make<Layer>("Dropout", {{"rate", 0.0}, {"name", name}});
  return make<Layer>("Activation", {{"activation", "linear"}, {"name", name}});
}

/// A model of some layers: a Sequential or, if `functional` is true, a graph. If `kind` is not
/// empty, the model has an identity layer of this kind with the name "same".
std::shared_ptr<Functional> stack(bool functional, const std::string& kind) {
  set_random_seed(3);
  std::vector<LayerPtr> layers{dense(6, {{"name", "first"}})};
  if (!kind.empty()) layers.push_back(identity(kind, "same"));
  layers.push_back(make<Layer>("BatchNormalization", {{"name", "norm"}}));
  layers.push_back(dense(2, {{"name", "last"}}));
  if (functional) {
    const Symbol in = Input({kWidth}, "in");
    Symbol x = in;
    for (const LayerPtr& layer : layers) x = (*layer)(x);
    return Functional::make({in}, {x}, "graph");
  }
  layers.insert(layers.begin(),
                make<Layer>("InputLayer", {{"input_shape", List{kWidth}}, {"name", "in"}}));
  return Sequential::make(layers, "stack");
}

void fit(Model& model, int64_t epochs) {
  model.fit({data(24)}, {ops::slice_axis(data(24, 9), 1, 0, 2)},
            {{"epochs", epochs}, {"batch_size", 8}, {"verbose", 0}});
}

bool have_same_bits(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].to_vector() != b[i].to_vector()) return false;
  return true;
}

std::string report(const SurgeryResult& result) {
  std::vector<std::string> rows;
  for (const LayerChange& change : result.changes)
    rows.push_back(concat(change.layer, " ", change.change, " ", Value(change.before.size()), ">",
                          Value(change.after.size()), " ", change.weights));
  return join(rows, "; ");
}

}  // namespace

TEST_CASE("a model without a layer that does nothing trains on as it would have with it") {
  const bool functional = GENERATE(false, true);
  const std::string kind = GENERATE("Dropout", "Activation");
  CAPTURE(functional, kind);
  auto model_with_layer = stack(functional, kind);
  model_with_layer->compile({{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}});
  fit(*model_with_layer, 2);
  fit(*model_with_layer, 2);

  auto changed_model = stack(functional, kind);
  changed_model->compile({{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}});
  fit(*changed_model, 2);
  const SurgeryResult result = remove_layer(*changed_model, "same");
  CHECK(names(*result.model).size() == names(*model_with_layer).size() - 1);
  CHECK(report(result) == "same removed 1>0 ");
  CHECK(result.model->compiled());
  CHECK(result.model->epochs_trained() == 2);
  CHECK(result.model->class_name() == changed_model->class_name());
  fit(*result.model, 2);
  CHECK(have_same_bits(result.model->get_weights(), model_with_layer->get_weights()));
  CHECK(result.model->optimizer()->iterations().value().item() == 12);
  CHECK(result.model->metrics_names() == model_with_layer->metrics_names());
}

TEST_CASE("a model with a layer more that does nothing trains on as it would have without it") {
  const bool functional = GENERATE(false, true);
  const std::string position = GENERATE("in", "first", "norm", "last");
  CAPTURE(functional, position);
  auto model_without_layer = stack(functional, "");
  compile(*model_without_layer, "adam");
  fit(*model_without_layer, 4);
  auto changed_model = stack(functional, "");
  compile(*changed_model, "adam");
  fit(*changed_model, 4 - 1);
  const SurgeryResult result = insert_after(*changed_model, position, identity("Dropout", "same"));
  CHECK(report(result) == "same new 0>1 ");
  fit(*result.model, 1);
  CHECK(have_same_bits(result.model->get_weights(), model_without_layer->get_weights()));
}

TEST_CASE("a frozen layer stays frozen, and one that was frozen after compile trains on") {
  auto model = stack(true, "Dropout");
  model->get_layer("first")->set_trainable(false);
  compile(*model);
  model->get_layer("last")->set_trainable(false);
  const SurgeryResult result = remove_layer(*model, "same");
  const Tensors first = model->get_layer("first")->get_weights(),
                last = model->get_layer("last")->get_weights();
  fit(*result.model, 1);
  CHECK(have_same_bits(model->get_layer("first")->get_weights(), first));
  CHECK_FALSE(have_same_bits(model->get_layer("last")->get_weights(), last));
}

TEST_CASE("a layer that takes the place of another has its weights where they fit") {
  const bool functional = GENERATE(false, true);
  CAPTURE(functional);
  auto model = stack(functional, "");
  compile(*model, "adam");
  fit(*model, 1);
  const Tensors old_weights = model->get_layer("last")->get_weights();
  const auto adam = model->optimizer();
  const Variable slot = adam->slot("momentum").front();

  const SurgeryResult kept_result =
      replace_layer(*model, "last", dense(2, {{"name", "other"}, {"activation", "linear"}}));
  CHECK(have_same_bits(kept_result.model->get_layer("other")->get_weights(), old_weights));
  CHECK(report(kept_result) == "other new 0>1 2 carried; last removed 1>0 2 dropped");
  fit(*kept_result.model, 1);
  CHECK(adam->slot("momentum").front() == slot);
  CHECK(adam->slot("momentum").size() == 6);
  CHECK(adam->iterations().value().item() == 6);

  const SurgeryResult wider_result = replace_layer(*model, "last", dense(3, {{"name", "last"}}));
  CHECK(report(wider_result) == "last replaced 1>1 2 new");
  const SurgeryResult fresh_result =
      replace_layer(*model, "last", dense(2, {{"name", "fresh"}}), false);
  CHECK(report(fresh_result).starts_with("fresh new 0>1 2 new"));
  CHECK_FALSE(have_same_bits(fresh_result.model->get_layer("fresh")->get_weights(), old_weights));
  auto built_layer = dense(2, {{"name", "built"}});
  built_layer->build_for({{-1, 6}});
  const Tensors built_weights = built_layer->get_weights();
  CHECK(report(replace_layer(*model, "last", built_layer)).starts_with("built new 0>1 2 its own"));
  CHECK(have_same_bits(built_layer->get_weights(), built_weights));
}

TEST_CASE("every call of a shared layer is meant, with its arguments") {
  const Symbol in = Input({kWidth}, "in");
  auto called_twice = dense(kWidth, {{"name", "twice"}}),
       next_layer = dense(kWidth, {{"name", "next"}});
  auto dropout = make<Layer>("Dropout", {{"rate", 1e-9}, {"name", "drop"}});
  CallOptions training_options;
  training_options.training = true;
  auto model =
      Functional::make({in}, {(*called_twice)((*dropout)((*called_twice)(in), training_options))});
  const Tensor x = data();
  const SurgeryResult insertion = insert_after(*model, "twice", next_layer);
  CHECK(are_near(insertion.model->predict({x}).front(),
                 (*next_layer)((*called_twice)((*next_layer)((*called_twice)(x))))));
  CHECK(report(insertion) == "next new 0>2 2 new");
  bool keeps_training = false;
  for (const NodePtr& call : dropout->inbound_nodes()) keeps_training = call->training == true;
  CHECK(keeps_training);
  CHECK(are_near(remove_layer(*model, "twice").model->predict({x}).front(), x));
}

TEST_CASE("masks and keyword tensors go the new ways") {
  const Symbol in = Input({3}, "in");
  auto embed = make<Layer>(
      "Embedding", {{"input_dim", 5}, {"output_dim", 4}, {"mask_zero", true}, {"name", "embed"}});
  auto norm = make<Layer>("LayerNormalization", {{"name", "norm"}});
  auto attention =
      make<Layer>("MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 3}, {"name", "attention"}});
  const Symbol tokens = (*embed)(in), key = (*norm)(tokens);
  CallOptions options;
  options.arguments = {{"key", Value(std::make_shared<BoxedSymbol>(key))}};
  auto pool = make<Layer>("GlobalAveragePooling1D", {{"name", "pool"}});
  const Symbol attention_output = (*attention)({tokens, tokens}, options).front();
  auto model = Functional::make({in}, {(*pool)(attention_output)});
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 0, 3, 0, 0}, {2, 3});
  auto expected_output = [&](bool with_norm) {
    const Tensor t = (*embed)(x);
    CallOptions call_options;
    call_options.arguments = {
        {"key", Value(std::make_shared<BoxedTensor>(with_norm ? (*norm)(t) : t))}};
    return (*pool)((*attention)({t, t}, call_options).front());
  };
  CHECK(are_near(model->predict({x}).front(), expected_output(true)));
  CHECK(are_near(remove_layer(*model, "norm").model->predict({x}).front(), expected_output(false)));
}

TEST_CASE("paths lead into nested models, which keep their names") {
  auto inner_model = Sequential::make({first_dense(), dense(kWidth, {{"name", "deep"}})}, "inner");
  auto middle_model = Sequential::make({inner_model, dense(kWidth, {{"name", "after"}})}, "middle");
  const Symbol in = Input({kWidth}, "in");
  auto head = dense(2, {{"name", "head"}});
  auto model = Functional::make({in}, {(*head)((*middle_model)(in))}, "model");
  compile(*model);
  const Tensor x = data();
  const SurgeryResult result = remove_layer(*model, "middle/inner/deep");
  CHECK(report(result) == "middle/inner/deep removed 1>0 2 dropped");
  CHECK(names(*result.model) == std::vector<std::string>{"in", "middle", "head"});
  CHECK(result.model->compiled());
  CHECK(are_near(result.model->predict({x}).front(), (*head)((*middle_model->get_layer("after"))(
                                                         (*inner_model->layers().front())(x)))));
  const SurgeryResult cut_result = cut(*model, "", {"middle/inner"});
  CHECK(are_near(cut_result.model->predict({x}).front(), (*inner_model)(x)));
  CHECK_FALSE(cut_result.model->compiled());
  CHECK_THROWS_WITH(remove_layer(*model, "middle/inner/dep"), Contains("did you mean 'deep'?"));
}

TEST_CASE("a part of a model begins with new inputs and needs no others") {
  const Symbol a = Input({kWidth}, "a"), b = Input({kWidth}, "b");
  auto left_layer = dense(kWidth, {{"name", "left"}}),
       right_layer = dense(kWidth, {{"name", "right"}}), top = dense(2, {{"name", "top"}});
  auto sum = make<Layer>("Add", {{"name", "sum"}});
  const Symbol l = (*left_layer)(a), r = (*right_layer)(b), s = (*sum)({l, r}).front();
  auto model = Functional::make({a, b}, {(*top)(s), r}, "two");
  model->compile({{"optimizer", "adam"},
                  {"loss", Dict{{"top", "mse"}, {"right", "mae"}}},
                  {"loss_weights", Dict{{"top", 2.0}, {"right", 1.0}}}});
  const Tensor x = data(), y = data(8, 6);

  const SurgeryResult left_cut = cut(*model, "", {"left"});
  CHECK(left_cut.model->input_names() == std::vector<std::string>{"a"});
  CHECK(are_near(left_cut.model->predict({x}).front(), (*left_layer)(x)));
  const SurgeryResult two_output_cut = cut(*model, "", {"sum", "left"});
  CHECK(are_near(two_output_cut.model->predict({x, y}),
                 Tensors{(*left_layer)(x) + (*right_layer)(y), (*left_layer)(x)}));
  const SurgeryResult middle = cut(*model, "sum", {"top"});
  CHECK(middle.model->inputs().size() == 2);
  CHECK(are_near(middle.model->predict({x, y}).front(), (*top)(x + y)));
  CHECK_THROWS_WITH(cut(*model, "left", {"top"}),
                    Contains("cut: model two, 'left ... top'") && Contains("disconnected"));

  const SurgeryResult named_result = replace_layer(*model, "top", dense(2, {{"name", "other"}}));
  CHECK(named_result.model->compile_config().as_dict().at("loss").as_dict().contains("other"));
  named_result.model->train_on_batch({x, y}, {ops::slice_axis(y, 1, 0, 2), y});
}

TEST_CASE("the same layers are called on other inputs") {
  auto model = Sequential::make(
      {make<Layer>(
           "Conv1D",
           {{"filters", 3}, {"kernel_size", 2}, {"input_shape", List{8, 2}}, {"name", "conv"}}),
       make<Layer>("GlobalAveragePooling1D", {{"name", "pool"}}), dense(2, {{"name", "head"}})},
      "audio");
  compile(*model, "adam");
  const SurgeryResult longer_result = rebase(*model, {Input({20, 2}, "long")});
  CHECK(longer_result.model->class_name() == "Sequential");
  CHECK(longer_result.model->compiled());
  const Tensor x = SeedGenerator(2).normal({3, 20, 2});
  CHECK(longer_result.model->predict({x}).front().shape() == Shape{3, 2});
  CHECK(longer_result.changes.front().layer == "long");

  const Symbol in = Input({20, 5}, "wide");
  auto prepended_layer =
      make<Layer>("Conv1D", {{"filters", 2}, {"kernel_size", 1}, {"name", "before"}});
  const SurgeryResult prepended_result = rebase(*model, {(*prepended_layer)(in)});
  CHECK(prepended_result.model->input_names() == std::vector<std::string>{"wide"});
  const Tensor wide_input = SeedGenerator(2).normal({3, 20, 5});
  CHECK(are_near(prepended_result.model->predict({wide_input}),
                 longer_result.model->predict({(*prepended_layer)(wide_input)})));
  CHECK_THROWS_WITH(rebase(*model, {Input({20, 3})}),
                    Contains("conv") && Contains("(None, 20, 3)"));
  CHECK_THROWS_WITH(rebase(*model, {in, in}), Contains("has 1 inputs (") && Contains("got 2"));
}

TEST_CASE("what cannot be operated on is reported with names and shapes") {
  const Symbol in = Input({kWidth}, "in");
  auto body = dense(7, {{"name", "body"}}), side = dense(7, {{"name", "side"}});
  auto model = Functional::make(
      {in}, {(*make<Layer>("Add", {{"name", "sum"}}))({(*body)(in), (*side)(in)}).front()}, "m");
  CHECK_THROWS_WITH(remove_layer(*model, "sum"),
                    Contains("'sum' (Add) makes 1 of 2 tensors") && Contains("rewire"));
  CHECK_THROWS_WITH(remove_layer(*model, "in"), Contains("is an input of model m"));
  CHECK_THROWS_WITH(remove_layer(*model, "bodi"), Contains("did you mean 'body'?"));
  CHECK_THROWS_WITH(replace_layer(*model, "body", dense(5)),
                    Contains("replace: model m, layer 'sum' on (None, 5), (None, 7)"));
  CHECK_THROWS_WITH(replace_layer(*model, "body", nullptr), Contains("remove leaves one out"));
  auto unbuilt_model = Sequential::make({dense(3, {{"name", "one"}}), dense(3, {{"name", "two"}})});
  CHECK_THROWS_WITH(cut(*unbuilt_model, "", {"one"}), Contains("not been built"));
  const SurgeryResult unbuilt_result = remove_layer(*unbuilt_model, "two");
  CHECK(unbuilt_result.model->predict({data()}).front().shape() == Shape{8, 3});
}

namespace {

/// A random graph as plain data: a list of calls of layers on values; value 0 is the input.
struct PlainGraph {
  struct Call {
    LayerPtr layer;
    std::vector<size_t> inputs;
  };
  std::vector<Call> calls;

  template <class T>
  T run(const T& input,
        const std::function<T(const LayerPtr&, const std::vector<T>&)>& call) const {
    std::vector<T> values{input};
    for (const Call& layer_call : calls) {
      std::vector<T> arguments;
      for (const size_t i : layer_call.inputs) arguments.push_back(values[i]);
      values.push_back(call(layer_call.layer, arguments));
    }
    return values.back();
  }
};

template <class T>
T output_of(const LayerPtr& layer, const std::vector<T>& inputs) {
  return (*layer)(inputs).front();
}

PlainGraph random_graph(std::mt19937& generator) {
  const auto random_below = [&](size_t end) { return static_cast<size_t>(generator() % end); };
  PlainGraph graph;
  std::vector<LayerPtr> layers_with_one_input;
  for (size_t i = 1; i <= 4 + random_below(8); ++i) {
    if (random_below(3) == 0) {
      graph.calls.push_back(
          {make<Layer>(random_below(2) ? "Add" : "Average"), {random_below(i), i - 1}});
      continue;
    }
    if (layers_with_one_input.empty() || random_below(3))
      layers_with_one_input.push_back(random_below(4) ? dense() : make<Layer>("ReLU"));
    graph.calls.push_back({layers_with_one_input[random_below(layers_with_one_input.size())],
                           {random_below(2) ? i - 1 : random_below(i)}});
  }
  graph.calls.push_back({dense(), {graph.calls.size()}});
  return graph;
}

}  // namespace

TEST_CASE("a random graph that was operated on computes what its plain form does") {
  const Tensor x = data();
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 generator(seed);
    set_random_seed(seed);
    const PlainGraph graph = random_graph(generator);
    const Symbol in = Input({kWidth}, "in");
    auto model = Functional::make({in}, {graph.run<Symbol>(in, output_of<Symbol>)}, "m");
    CHECK(are_near(model->predict({x}).front(), graph.run<Tensor>(x, output_of<Tensor>)));
    const std::vector<LayerPtr> layers = model->layers();
    const LayerPtr chosen_layer = layers[1 + generator() % (layers.size() - 1)],
                   new_layer = dense();
    const bool merges =
        chosen_layer->class_name() == "Add" || chosen_layer->class_name() == "Average";
    const auto expected = [&](const std::function<Tensor(const Tensors&)>& changed_call) {
      return graph.run<Tensor>(x, [&](const LayerPtr& layer, const Tensors& layer_inputs) {
        return layer == chosen_layer ? changed_call(layer_inputs)
                                     : output_of<Tensor>(layer, layer_inputs);
      });
    };
    const auto result = [](const SurgeryResult& surgery, const Tensor& layer_inputs) {
      return surgery.model->predict({layer_inputs}).front();
    };
    CHECK(are_near(result(insert_after(*model, chosen_layer->name(), new_layer), x),
                   expected([&](const Tensors& layer_inputs) {
                     return (*new_layer)(output_of(chosen_layer, layer_inputs));
                   })));
    auto other_layer = merges ? make<Layer>("Maximum") : dense();
    CHECK(are_near(result(replace_layer(*model, chosen_layer->name(), other_layer), x),
                   expected([&](const Tensors& layer_inputs) {
                     return output_of(other_layer, layer_inputs);
                   })));
    if (merges)
      CHECK_THROWS_WITH(remove_layer(*model, chosen_layer->name()), Contains("of 2 tensors"));
    else
      CHECK(are_near(result(remove_layer(*model, chosen_layer->name()), x),
                     expected([](const Tensors& layer_inputs) { return layer_inputs.front(); })));
    CHECK(are_near(result(rebase(*model, {(*new_layer)(Input({kWidth}, "again"))}), x),
                   model->predict({(*new_layer)(x)}).front()));
  }
}
