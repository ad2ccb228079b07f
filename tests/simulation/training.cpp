#include "training.h"

#include <random>

#include "random/random_scope.h"

namespace crescent::simulation {
namespace {

int64_t step_count(const Model& model) {
  return static_cast<int64_t>(model.optimizer()->iterations().value().item());
}

/// Calls a function after each batch.
class AtBatchEnd final : public Callback {
 public:
  explicit AtBatchEnd(Training::AtStep action) : action_(std::move(action)) {}
  void on_train_batch_end(int64_t, const Logs&) override { action_(step_count(*model_)); }

 private:
  Training::AtStep action_;
};

class Draws {
 public:
  explicit Draws(int64_t seed) : random_(static_cast<uint64_t>(seed)) {}
  int64_t random_integer(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(random_() % static_cast<uint64_t>(last - first + 1));
  }
  bool random_bool() { return random_integer(0, 1) == 1; }
  template <class T>
  T random_choice(std::initializer_list<T> list) {
    return list.begin()[random_integer(0, static_cast<int64_t>(list.size()) - 1)];
  }

 private:
  std::mt19937_64 random_;
};

/// The FNV-1a hash of an empty sequence of bytes, to which add() adds bytes.
constexpr size_t kFirstHash = 0xcbf29ce484222325;

void add(size_t& hash, const void* data, size_t bytes) {
  const auto* bytes_begin = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ bytes_begin[i]) * 0x100000001b3;
}

void add(size_t& hash, const Variables& variables) {
  for (const Variable& variable : variables) {
    const Tensor value = variable.value();
    add(hash, value.raw(), value.bytes());
  }
}

std::string hash_of(const Model& model) {
  size_t weights = kFirstHash, state = kFirstHash, history = kFirstHash;
  add(weights, model.weights());
  add(state, model.optimizer()->state());
  for (const auto& [name, values] : model.history()->history())
    add(history, values.data(), values.size() * sizeof(double));
  return concat("weights ", weights, ", optimizer ", state, ", history ", history, " after ",
                step_count(model), " steps and ", model.epochs_trained(), " epochs");
}

std::string best_in(const std::string& folder) { return folder + "/best.weights.h5"; }

using ClassAndOptions = std::pair<std::string, Dict>;

std::vector<ClassAndOptions> layers(Draws& draws) {
  Dict first{{"units", draws.random_integer(1, 9)},
             {"activation", draws.random_choice({"relu", "tanh"})},
             {"input_shape", List{3}}};
  if (draws.random_bool()) first.set("kernel_regularizer", "l2");
  std::vector<ClassAndOptions> layers{{"Dense", first}};
  if (draws.random_bool())
    layers.push_back({"BatchNormalization", {{"synchronized", draws.random_bool()}}});
  if (draws.random_bool())
    layers.push_back({draws.random_choice({"LayerNormalization", "UnitNormalization"}), {}});
  if (draws.random_bool()) layers.push_back({"Dropout", {{"rate", 0.3}}});
  if (draws.random_bool()) layers.push_back({"GaussianNoise", {{"stddev", 0.1}}});
  if (draws.random_integer(0, 3) == 0) {
    layers.push_back({"Reshape", {{"target_shape", List{-1, 1}}}});
    layers.push_back({draws.random_choice({"GRU", "LSTM", "GlobalMaxPooling1D"}), {}});
    if (layers.back().first != "GlobalMaxPooling1D") layers.back().second.set("units", 3);
  }
  layers.push_back({"Dense", {{"units", 1}}});
  return layers;
}

ClassAndOptions optimizer(Draws& draws) {
  ClassAndOptions optimizer{
      draws.random_choice({"SGD", "Adam", "RMSprop", "AdamW", "Adagrad", "Lion"}), {}};
  if (draws.random_bool()) optimizer.second.set("use_ema", true);
  if (draws.random_bool()) optimizer.second.set("gradient_accumulation_steps", 2);
  if (draws.random_bool()) optimizer.second.set("clipnorm", 1.0);
  return optimizer;
}

std::vector<ClassAndOptions> callbacks(Draws& draws) {
  std::vector<ClassAndOptions> callbacks;
  if (draws.random_bool())
    callbacks.push_back({"ReduceLROnPlateau", {{"monitor", "loss"}, {"patience", 0}}});
  if (draws.random_bool())
    callbacks.push_back(
        {"EarlyStopping",
         {{"monitor", "loss"}, {"patience", 0}, {"restore_best_weights", draws.random_bool()}}});
  return callbacks;
}

}  // namespace

Training::Training(int64_t seed) : seed_(seed) {
  Draws draws(seed);
  const int64_t rows = draws.random_integer(2, 60);
  const RandomScope random(seed);
  x_ = global_random().normal({rows, 3});
  y_ = ops::sum(x_, {1}, true);
  if (draws.random_bool()) weights_ = global_random().uniform({rows}, 0.5, 1.5);
  layers_ = layers(draws);
  optimizer_ = optimizer(draws);
  callbacks_ = callbacks(draws);
  batch_size_ = draws.random_integer(1, 30);
  fit_ = {{"epochs", draws.random_integer(1, 3)}, {"verbose", 0}};
  dataset_chain_.is_used = draws.random_integer(0, 2) == 0;
  if (dataset_chain_.is_used) {
    dataset_chain_.is_cached = draws.random_bool();
    dataset_chain_.skipped = draws.random_integer(0, 1);
    dataset_chain_.buffer = draws.random_bool() ? draws.random_integer(1, 2 * rows) : 0;
    dataset_chain_.repeats = draws.random_integer(1, 2);
    dataset_chain_.prefetched = draws.random_integer(0, 3);
  } else {
    fit_.set("batch_size", batch_size_);
    if (draws.random_bool()) fit_.set("validation_split", 0.3);
    if (draws.random_bool()) fit_.set("shuffle", false);
    if (draws.random_bool()) fit_.set("validation_freq", draws.random_integer(1, 2));
  }
  backup_.set("double_checkpoint", draws.random_bool());
  if (draws.random_bool()) backup_.set("save_freq", draws.random_integer(1, 4));
  keeps_best_ = draws.random_bool();
}

std::string Training::text() const {
  std::string text = concat(x_.dim(0), weights_ ? " weighted" : "", " rows, fit ", Value(fit_));
  if (dataset_chain_.is_used)
    text += concat(dataset_chain_.is_cached ? ", cached" : "", ", ", dataset_chain_.skipped,
                   " skipped, shuffled by ", dataset_chain_.buffer, ", ", dataset_chain_.repeats,
                   " times, in batches of ", batch_size_, ", ", dataset_chain_.prefetched,
                   " prefetched");
  for (const auto& [name, options] : layers_) text += concat(", ", name, " ", Value(options));
  text += concat(", ", optimizer_.first, " ", Value(optimizer_.second));
  for (const auto& [name, options] : callbacks_) text += concat(", ", name, " ", Value(options));
  return text +
         concat(", BackupAndRestore ", Value(backup_), keeps_best_ ? ", ModelCheckpoint" : "");
}

/// Layers get explicit names, because automatic names would count the layers of all ranks of this
/// process together.
std::shared_ptr<Sequential> Training::model() const {
  std::vector<LayerPtr> layers;
  for (const auto& [name, options] : layers_) {
    Dict named_options = options;
    named_options.set("name", concat("layer_", layers.size()));
    layers.push_back(make<Layer>(name, named_options));
  }
  auto model = Sequential::make(layers);
  model->compile({{"optimizer", make<Optimizer>(optimizer_.first, optimizer_.second)},
                  {"loss", "mse"},
                  {"metrics", List{"mae", "R2Score"}}});
  return model;
}

Dict Training::options(const std::string& folder, const AtStep& at_batch_end) const {
  Dict backup = backup_, merged = fit_;
  backup.set("backup_dir", folder);
  List callbacks{std::make_shared<AtBatchEnd>(at_batch_end),
                 make<Callback>("BackupAndRestore", backup)};
  for (const auto& [name, options] : callbacks_) callbacks.push_back(make<Callback>(name, options));
  if (keeps_best_)
    callbacks.push_back(make<Callback>("ModelCheckpoint", {{"filepath", best_in(folder)},
                                                           {"monitor", "loss"},
                                                           {"save_weights_only", true},
                                                           {"save_best_only", true}}));
  merged.set("callbacks", std::move(callbacks));
  if (weights_ && !dataset_chain_.is_used)
    merged.set("sample_weight", std::make_shared<BoxedTensor>(weights_));
  return merged;
}

DatasetPtr Training::data() const {
  Element arrays;
  for (const Tensor& array : {x_, y_, weights_})
    if (array) arrays.push_back(std::make_shared<BoxedTensor>(array));
  StreamPtr rows = slices(std::move(arrays));
  if (dataset_chain_.is_cached) rows = cache(rows);
  if (dataset_chain_.skipped > 0) rows = skip(rows, dataset_chain_.skipped);
  if (dataset_chain_.buffer > 0) rows = shuffle(rows, {dataset_chain_.buffer, std::nullopt});
  if (dataset_chain_.repeats > 1) rows = repeat(rows, dataset_chain_.repeats);
  rows = batch(rows, {batch_size_, std::nullopt});
  return dataset_chain_.prefetched > 0 ? prefetch_elements(rows, dataset_chain_.prefetched) : rows;
}

std::string Training::train(const std::string& folder, const AtStep& at_batch_end) const {
  const RandomScope random(seed_);
  const auto trained_model = model();
  const Dict fit_options = options(folder, at_batch_end);
  dataset_chain_.is_used ? trained_model->fit(data(), fit_options)
                         : trained_model->fit({x_}, {y_}, fit_options);
  if (!trained_model->stop_training && trained_model->epochs_trained() < fit_.at("epochs").as_int())
    fail("interrupted after ", step_count(*trained_model), " steps");
  return hash_of(*trained_model);
}

std::string Training::hash_of_best(const std::string& folder) const {
  const auto best_model = model();
  load_weights(*best_model, best_in(folder));
  size_t hash = kFirstHash;
  add(hash, best_model->weights());
  return std::to_string(hash);
}

}  // namespace crescent::simulation
