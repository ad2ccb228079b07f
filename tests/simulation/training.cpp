#include "training.h"

#include <random>

#include "random/random_scope.h"

namespace crescent::simulation {
namespace {

/// Calls a function after each batch.
class AtBatchEnd final : public Callback {
 public:
  explicit AtBatchEnd(std::function<void()> act) : act_(std::move(act)) {}
  void on_train_batch_end(int64_t, const Logs&) override { act_(); }

 private:
  std::function<void()> act_;
};

class Draws {
 public:
  explicit Draws(int64_t seed) : random_(static_cast<uint64_t>(seed)) {}
  int64_t number(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(random_() % static_cast<uint64_t>(last - first + 1));
  }
  bool coin() { return number(0, 1) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[number(0, static_cast<int64_t>(list.size()) - 1)];
  }

 private:
  std::mt19937_64 random_;
};

void add(size_t& hash, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3;
}

void add(size_t& hash, const Variables& variables) {
  for (const Variable& variable : variables) {
    const Tensor value = variable.value();
    add(hash, value.raw(), value.bytes());
  }
}

std::string hash_of(const Model& model) {
  size_t hash = 0xcbf29ce484222325;
  add(hash, model.weights());
  add(hash, model.optimizer()->state());
  for (const auto& [name, values] : model.history()->history())
    add(hash, values.data(), values.size() * sizeof(double));
  return concat(hash, " after ", model.optimizer()->iterations().value().item(), " steps and ",
                model.epochs_trained(), " epochs");
}

}  // namespace

Training::Training(int64_t seed) : seed_(seed) {
  Draws draws(seed);
  const int64_t rows = draws.number(2, 60);
  const RandomScope random(seed);
  x_ = global_random().normal({rows, 3});
  y_ = ops::sum(x_, {1}, true);
  if (draws.coin()) weights_ = global_random().uniform({rows}, 0.5, 1.5);
  fit_ = {{"epochs", draws.number(1, 3)}, {"batch_size", draws.number(1, 30)}, {"verbose", 0}};
  if (draws.coin()) fit_.set("validation_split", 0.3);
  if (draws.coin()) fit_.set("shuffle", false);
  backup_.set("double_checkpoint", draws.coin());
  if (draws.coin()) backup_.set("save_freq", draws.number(1, 4));
  optimizer_name_ = draws.one_of({"SGD", "Adam", "RMSprop", "AdamW"});
  if (draws.coin()) optimizer_.set("use_ema", true);
  if (draws.coin()) optimizer_.set("gradient_accumulation_steps", 2);
  if (draws.coin()) optimizer_.set("clipnorm", 1.0);
  activation_ = draws.one_of({"relu", "tanh"});
  normalization_ = draws.one_of({"", "BatchNormalization", "LayerNormalization"});
  units_ = draws.number(1, 9);
  drops_ = draws.coin(), synchronized_ = draws.coin(), reduces_rate_ = draws.coin();
}

/// Layers have names of their own, because ranks in one process would count them together.
std::shared_ptr<Sequential> Training::model() const {
  std::vector<LayerPtr> layers{make<Layer>("Dense", {{"name", "hidden"},
                                                     {"units", units_},
                                                     {"activation", activation_},
                                                     {"input_shape", List{3}}})};
  if (normalization_ == "BatchNormalization")
    layers.push_back(
        make<Layer>(normalization_, {{"name", "normalization"}, {"synchronized", synchronized_}}));
  else if (!normalization_.empty())
    layers.push_back(make<Layer>(normalization_, {{"name", "normalization"}}));
  if (drops_) layers.push_back(make<Layer>("Dropout", {{"name", "dropout"}, {"rate", 0.3}}));
  layers.push_back(make<Layer>("Dense", {{"name", "output"}, {"units", 1}}));
  auto model = Sequential::make(layers);
  model->compile({{"optimizer", make<Optimizer>(optimizer_name_, optimizer_)},
                  {"loss", "mse"},
                  {"metrics", List{"mae"}}});
  return model;
}

Dict Training::options(const std::string& folder, const std::function<void()>& at_batch_end) const {
  Dict backup = backup_, all = fit_;
  backup.set("backup_dir", folder);
  List callbacks{std::make_shared<AtBatchEnd>(at_batch_end),
                 make<Callback>("BackupAndRestore", backup)};
  if (reduces_rate_)
    callbacks.push_back(
        make<Callback>("ReduceLROnPlateau", {{"monitor", "loss"}, {"patience", 0}}));
  all.set("callbacks", std::move(callbacks));
  if (weights_) all.set("sample_weight", std::make_shared<BoxedTensor>(weights_));
  return all;
}

std::string Training::train(const std::string& folder,
                            const std::function<void()>& at_batch_end) const {
  const RandomScope random(seed_);
  const auto trained = model();
  trained->fit({x_}, {y_}, options(folder, at_batch_end));
  if (trained->epochs_trained() < fit_.at("epochs").as_int())
    fail("interrupted after ", trained->optimizer()->iterations().value().item(), " steps");
  return hash_of(*trained);
}

}  // namespace crescent::simulation
