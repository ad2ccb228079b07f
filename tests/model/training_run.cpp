// Training runs in steps: inspection, changes, pauses, saving, and continuing elsewhere with
// bit-identical results.
#include "crescent/model/training_run.h"

#include <unistd.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <random>
#include <thread>

#include "array_files.h"
#include "crescent/crescent.h"
#include "small_model.h"

using namespace crescent;
using Catch::Contains;
using small::boxed;

namespace {

/// The path of a file, which is removed at the end of the test.
struct TemporaryFile {
  explicit TemporaryFile(const char* name)
      : path(concat("/tmp/crescent_run_", getpid(), "_", name)) {}
  ~TemporaryFile() { std::remove(path.c_str()); }
  std::string path;
};

const Tensor& inputs() {
  static const Tensor x = SeedGenerator(5).normal({46, 4});
  return x;
}
Tensor targets() { return ops::sum(inputs(), {1}, true); }

/// The same values in three forms: as arrays in memory, in a mapped file, and in a file that is
/// read.
class Arrays {
 public:
  Arrays() {
    write_npy(x_.path, inputs());
    write_arrays(h5_.path, {{"y", targets()}});
  }
  std::pair<Tensor, Tensor> arrays_of(int kind) const {
    if (kind == 0) return {inputs(), targets()};
    return {kind == 1 ? inputs() : open_npy(x_.path), open_array(h5_.path, "y")};
  }

 private:
  TemporaryFile x_{"x.npy"}, h5_{"y.h5"};
};

DatasetPtr generator(int64_t per_epoch) {
  return generator_dataset([per_epoch, at = int64_t{0}](Batch& batch) mutable {
    if (per_epoch > 0 && at++ % (per_epoch + 1) == per_epoch) return false;
    const Tensor x = SeedGenerator(per_epoch > 0 ? at : ++at).normal({5, 4});
    batch = {{x}, {ops::sum(x, {1}, true)}, {}};
    return true;
  });
}

/// A training setup drawn from a seed; it can be built several times.
class TrainingSetup {
 public:
  TrainingSetup(unsigned seed, const Arrays& arrays) : seed_(seed), arrays_(arrays) {}

  ModelPtr model(int64_t random_seed) {
    random_.seed(seed_);
    set_random_seed(random_seed);
    std::vector<LayerPtr> layers;
    const Dict first = random_below(2) ? Dict{{"units", 6}, {"activation", "tanh"}}
                                       : Dict{{"units", 6}, {"input_shape", List{4}}};
    layers.push_back(make<Layer>("Dense", first));
    if (random_below(2)) layers.push_back(make<Layer>("Dropout", {{"rate", 0.3}}));
    if (random_below(2)) layers.push_back(make<Layer>("BatchNormalization"));
    layers.push_back(make<Layer>("Dense", {{"units", 1}, {"kernel_regularizer", "l2"}}));
    auto model = Sequential::make(layers);
    model->compile({{"optimizer", optimizer()},
                    {"loss", "mse"},
                    {"metrics", List{"mae"}},
                    {"run_eagerly", random_below(8) == 0}});
    return model;
  }

  /// Starts a run of a model made by model().
  TrainingRunPtr start(Model& model) {
    Dict options{{"epochs", 3 + random_below(3)},
                 {"verbose", 0},
                 {"callbacks", callbacks()},
                 {"validation_freq", 1 + random_below(2)}};
    if (random_below(3) == 0) options.set("steps_per_epoch", 3 + random_below(5));
    const int kind = random_below(5);
    if (kind == 4) {
      if (random_below(2)) options.set("validation_data", List{boxed(inputs()), boxed(targets())});
      const bool endless = options.contains("steps_per_epoch");
      return model.start_training(generator(endless ? 0 : 6), options);
    }
    options.set("batch_size", 4 + random_below(5));
    const Value orders[] = {true, false, "batch"};
    options.set("shuffle", orders[random_below(3)]);
    if (random_below(2)) options.set("validation_split", 0.3);
    if (random_below(3) == 0) options.set("sample_weight", boxed(SeedGenerator(3).uniform({46})));
    const auto [x, y] = arrays_.arrays_of(kind % 3);
    return model.start_training({x}, {y}, options);
  }

 private:
  int random_below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

  Value optimizer() {
    const std::pair<const char*, Dict> all_optimizers[] = {
        {"SGD", {{"learning_rate", 0.01}, {"momentum", 0.9}}},
        {"Adam", {{"learning_rate", 0.02}, {"clipnorm", 1.0}}},
        {"Adam", {{"gradient_accumulation_steps", 3}}},
        {"RMSprop", {{"use_ema", true}, {"ema_overwrite_frequency", 4}}},
        {"LossScaleOptimizer",
         {{"inner_optimizer", "adam"}, {"dynamic_growth_steps", 4}, {"initial_scale", 8.0}}}};
    const auto& [name, options] = all_optimizers[random_below(5)];
    return make<Optimizer>(name, options);
  }

  Value callbacks() {
    List callbacks;
    if (random_below(2))
      callbacks.push_back(make<Callback>(
          "EarlyStopping", {{"monitor", "loss"}, {"patience", 1}, {"restore_best_weights", true}}));
    if (random_below(2))
      callbacks.push_back(make<Callback>(
          "ReduceLROnPlateau", {{"monitor", "loss"}, {"patience", 0}, {"min_delta", 10.0}}));
    return callbacks;
  }

  unsigned seed_;
  const Arrays& arrays_;
  std::mt19937 random_;
};

using Bits = std::vector<uint64_t>;

Bits bits(const std::vector<double>& numbers) {
  Bits result;
  for (double number : numbers) result.push_back(std::bit_cast<uint64_t>(number));
  return result;
}
std::vector<Bits> bits(const Variables& variables) {
  std::vector<Bits> values;
  for (const Variable& v : variables) values.push_back(bits(v.value().to_vector()));
  return values;
}
std::vector<Bits> bits(const History& history) {
  std::vector<Bits> values;
  for (const auto& [name, numbers] : history.history()) values.push_back(bits(numbers));
  return values;
}

/// Checks that two runs have the same state and results.
void check_same(const TrainingRun& a, const TrainingRun& b) {
  CHECK(a.history()->epoch() == b.history()->epoch());
  CHECK(bits(*a.history()) == bits(*b.history()));
  CHECK(bits(a.model().weights()) == bits(b.model().weights()));
  CHECK(bits(a.model().optimizer()->state()) == bits(b.model().optimizer()->state()));
  CHECK(bits(Variables{a.model().shuffle_order().state()}) ==
        bits(Variables{b.model().shuffle_order().state()}));
  CHECK(a.model().epochs_trained() == b.model().epochs_trained());
}

std::shared_ptr<Sequential> simple_model() {
  set_random_seed(3);
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{4}}})});
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  return model;
}
TrainingRunPtr start(Model& model, Dict more_options = {}) {
  if (!more_options.contains("epochs")) more_options.set("epochs", 3);
  more_options.set("verbose", 0);
  more_options.set("batch_size", 12);  // 4 batches per epoch
  return model.start_training({inputs()}, {targets()}, more_options);
}

}  // namespace

TEST_CASE("50 runs that stop anywhere, are kept and go on elsewhere give the bits of whole runs") {
  const Arrays arrays;
  const TemporaryFile file("snapshot.h5"), model_file("model.h5");
  for (unsigned seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    TrainingSetup setup(seed, arrays);
    const ModelPtr uninterrupted_model = setup.model(seed);
    const TrainingRunPtr uninterrupted_run = setup.start(*uninterrupted_model);
    const int64_t step_count = uninterrupted_run->advance(1000);
    REQUIRE(uninterrupted_run->ended());
    const double expected_draw = global_random().uniform({1}).item();

    const ModelPtr first_model = setup.model(seed);
    const TrainingRunPtr stopped_run = setup.start(*first_model);
    const int64_t stop_step = static_cast<int64_t>(std::mt19937(seed)()) % (step_count + 1);
    CAPTURE(stop_step, step_count);
    REQUIRE(stopped_run->advance(stop_step) == stop_step);
    stopped_run->save(file.path);
    save_model(*first_model, model_file.path);

    const ModelPtr second_model = setup.model(seed + 1000);
    const TrainingRunPtr resumed_run = setup.start(*second_model);
    resumed_run->load(file.path);
    CHECK(resumed_run->epoch() == stopped_run->epoch());
    CHECK(resumed_run->batch() == stopped_run->batch());
    CHECK(resumed_run->logs() == stopped_run->logs());
    resumed_run->finish();
    CHECK(resumed_run->ended());
    CHECK(global_random().uniform({1}).item() == expected_draw);
    check_same(*resumed_run, *uninterrupted_run);

    if (stop_step == 0 || !second_model->is_graph()) continue;
    (void)setup.model(seed + 2000);  // draws the random numbers that building a model draws
    const ModelPtr loaded_model = load_model(model_file.path);
    const TrainingRunPtr run_of_loaded_model = setup.start(*loaded_model);
    run_of_loaded_model->restore(loaded_model->run_state());
    run_of_loaded_model->finish();
    check_same(*run_of_loaded_model, *uninterrupted_run);
  }
}

TEST_CASE("a stateful layer goes on with the states that it had") {
  const TemporaryFile file("stateful.h5");
  const Tensor x = SeedGenerator(7).normal({12, 2, 3}), y = SeedGenerator(8).normal({12, 1});
  const auto make_fresh_model = [] {
    set_random_seed(3);
    auto model = Sequential::make(
        {make<Layer>(
             "LSTM",
             {{"units", 3}, {"stateful", true}, {"batch_size", 4}, {"input_shape", List{2, 3}}}),
         make<Layer>("Dense", {{"units", 1}})});
    model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
    return model;
  };
  const Dict options{{"epochs", 2}, {"batch_size", 4}, {"shuffle", false}, {"verbose", 0}};
  const auto uninterrupted_model = make_fresh_model(), first = make_fresh_model(),
             second = make_fresh_model();
  const TrainingRunPtr uninterrupted_run = uninterrupted_model->start_training({x}, {y}, options);
  uninterrupted_run->finish();
  const TrainingRunPtr stopped_run = first->start_training({x}, {y}, options);
  stopped_run->advance(4);
  stopped_run->save(file.path);
  const TrainingRunPtr continued_run = second->start_training({x}, {y}, options);
  continued_run->load(file.path);
  continued_run->finish();
  check_same(*uninterrupted_run, *continued_run);
}

TEST_CASE("a run that is paused, looked at and gone on with is as fit") {
  auto fitted_model = simple_model(), stepped_model = simple_model();
  const auto history = fitted_model->fit({inputs()}, {targets()},
                                         {{"epochs", 3}, {"verbose", 0}, {"batch_size", 12}});
  auto run = start(*stepped_model);
  CHECK(run->epochs() == 3);
  CHECK(run->batches() == 4);
  CHECK(run->batch() == 0);
  CHECK(run->logs().empty());
  CHECK(run->advance(3) == 3);
  CHECK(run->epoch() == 0);
  CHECK(run->batch() == 3);
  CHECK(run->logs().front().first == "loss");
  CHECK(run->history()->epoch().empty());
  (void)stepped_model->predict({inputs()});
  CHECK(run->advance(2) == 2);
  CHECK(run->epoch() == 1);
  CHECK(run->batch() == 1);
  CHECK(run->history()->at("loss").front() == history->at("loss").front());
  CHECK(run->advance(100) == 7);
  CHECK(run->ended());
  CHECK(run->advance() == 0);
  CHECK(run->finish()->at("loss") == history->at("loss"));
  CHECK(bits(stepped_model->weights()) == bits(fitted_model->weights()));
  CHECK(stepped_model->history() == run->history());
}

TEST_CASE("callbacks and other threads pause and stop a run") {
  class PausingCallback final : public Callback {
   public:
    void on_train_batch_end(int64_t batch, const Logs&) override {
      if (batch == 1 && pauses_run) run.lock()->pause();
    }
    std::weak_ptr<TrainingRun> run;
    bool pauses_run = true;
  };
  auto model = simple_model();
  auto pausing_callback = std::make_shared<PausingCallback>();
  auto run = start(*model, {{"callbacks", pausing_callback}});
  pausing_callback->run = run;
  CHECK(run->finish()->epoch().empty());
  CHECK(run->batch() == 2);
  CHECK_FALSE(run->ended());
  CHECK(run->advance(10) == 4);
  CHECK(run->epoch() == 1);
  run->stop();
  // The history includes the second epoch, although only some of its batches were run.
  CHECK(run->finish()->epoch() == std::vector<int64_t>{0, 1});
  CHECK(run->ended());

  pausing_callback->pauses_run = false;
  auto endless_run = start(*model, {{"epochs", 1 << 30}});
  std::thread other_thread([&] { endless_run->stop(); });
  endless_run->finish();
  other_thread.join();
  CHECK(endless_run->ended());
}

TEST_CASE("a paused run takes other epochs, callbacks and rates") {
  class EpochRecorder final : public Callback {
   public:
    void on_train_begin(const Logs&) override { text += "begin "; }
    void on_epoch_end(int64_t epoch, Logs&) override { text += concat(epoch, " "); }
    std::string text;
  };
  auto model = simple_model();
  auto run = start(*model);
  run->advance(5);
  auto epoch_recorder = std::make_shared<EpochRecorder>();
  run->add_callback(epoch_recorder);
  run->set_epochs(2);
  model->optimizer()->set_learning_rate(0);
  const auto old_weight_bits = bits(model->weights());
  CHECK(run->finish()->epoch() == std::vector<int64_t>{0, 1});
  CHECK(epoch_recorder->text == "begin 1 ");
  CHECK(bits(model->weights()) == old_weight_bits);
  run->remove_callback(epoch_recorder);
  CHECK_THROWS_WITH(run->remove_callback(epoch_recorder), Contains("no such callback"));
  CHECK_THROWS_WITH(run->set_epochs(-1), Contains("0 or more"));
}

TEST_CASE("snapshots of other runs, models and data are refused with the reason") {
  auto model = simple_model();
  auto run = start(*model);
  run->advance(6);
  const Value snapshot = run->snapshot();
  auto wider_model =
      Sequential::make({make<Layer>("Dense", {{"units", 2}, {"input_shape", List{4}}}),
                        make<Layer>("Dense", {{"units", 1}})});
  wider_model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  CHECK_THROWS_WITH(start(*wider_model)->restore(snapshot), Contains("another model"));
  auto model_of_other_shape =
      Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{3}}})});
  model_of_other_shape->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  const Tensor narrow_x({46, 3}, DType::float32);
  CHECK_THROWS_WITH(
      model_of_other_shape->start_training({narrow_x}, {targets()})->restore(snapshot),
      Contains("kernel") && Contains("another model"));
  auto restarted_model = simple_model();
  CHECK_THROWS_WITH(start(*restarted_model, {{"shuffle", false}})->restore(snapshot),
                    Contains("shuffle"));
  CHECK_THROWS_WITH(start(*restarted_model, {{"validation_split", 0.3}})->restore(snapshot),
                    Contains("validation data"));
  CHECK_THROWS_WITH(restarted_model->start_training({inputs()}, {targets()})->restore(snapshot),
                    Contains("batch_size=12"));
  const Tensor few_rows = inputs().view_rows(0, 24);
  CHECK_THROWS_WITH(
      restarted_model
          ->start_training({few_rows}, {targets().view_rows(0, 24)}, {{"batch_size", 12}})
          ->restore(snapshot),
      Contains("46 samples"));
  CHECK_THROWS_WITH(start(*restarted_model)->restore(Value(3)), Contains("expected a snapshot"));
  CHECK_THROWS_WITH(start(*restarted_model)->restore(Dict{{"a", 1}}),
                    Contains("expected the snapshot"));
  CHECK_THROWS_WITH(start(*restarted_model)->load("/nonexistent/run.h5"),
                    Contains("/nonexistent/run.h5"));
  CHECK_THROWS_WITH(run->save("/tmp/run.txt"), Contains("run.txt"));
}

TEST_CASE("a generator goes on where it is asked as often, and cannot go back") {
  auto start_on = [](Model& model, const DatasetPtr& data) {
    return model.start_training(data, {{"epochs", 2}, {"verbose", 0}});
  };
  auto uninterrupted_model = simple_model(), model = simple_model();
  start_on(*uninterrupted_model, generator(5))->finish();
  const DatasetPtr data = generator(5);
  auto run = start_on(*model, data);
  run->advance(7);
  const Value snapshot = run->snapshot();
  run->restore(snapshot);  // restores the state in which the run already is
  run->finish();
  CHECK(bits(model->weights()) == bits(uninterrupted_model->weights()));
  CHECK_THROWS_WITH(start_on(*model, data)->restore(snapshot), Contains("cannot go back"));
  CHECK_THROWS_WITH(start_on(*model, generator(1))->restore(snapshot), Contains("other data"));
  auto second_run = start_on(*model, generator(5));
  second_run->restore(snapshot);
  second_run->finish();
  CHECK(bits(model->weights()) == bits(uninterrupted_model->weights()));
}

TEST_CASE("checkpoints in the middle of an epoch hold the place") {
  const TemporaryFile file("checkpoint.h5");
  auto uninterrupted_model = simple_model(), model = simple_model();
  start(*uninterrupted_model)->finish();
  auto checkpoint = make<Callback>("ModelCheckpoint", {{"filepath", file.path}, {"save_freq", 6}});
  auto run = start(*model, {{"callbacks", checkpoint}});
  run->advance(7);
  const ModelPtr loaded_model = load_model(file.path);
  auto resumed_run = start(*loaded_model);
  resumed_run->restore(loaded_model->run_state());
  CHECK(resumed_run->epoch() == 1);
  CHECK(resumed_run->batch() == 2);
  CHECK(resumed_run->history()->epoch() == std::vector<int64_t>{0});
  resumed_run->finish();
  CHECK(bits(loaded_model->weights()) == bits(uninterrupted_model->weights()));
  CHECK(resumed_run->history()->epoch() == std::vector<int64_t>{0, 1, 2});
  CHECK_THROWS_WITH(start(*loaded_model)->restore(loaded_model->run_state()),
                    Contains("unfinished training run"));
}

TEST_CASE("a run keeps its model; a callback outlives both") {
  class NameReader final : public Callback {
   public:
    std::string name() const { return model_->name(); }
  };
  auto name_reader = std::make_shared<NameReader>();
  std::weak_ptr<Model> weak_model;
  {
    auto model = simple_model();
    weak_model = model;
    auto run = start(*model, {{"callbacks", name_reader}});
    model.reset();
    run->finish();
    CHECK_FALSE(name_reader->name().empty());
  }
  CHECK(weak_model.expired());
  CHECK_THROWS_WITH(name_reader->name(), Contains("the model of this callback is gone"));
}

TEST_CASE("an interruption is of one thread's runs; the run goes on afterwards") {
  class InterruptingCallback final : public Callback {
   public:
    void on_train_batch_end(int64_t, const Logs&) override {
      if (++batch_count == 2) interrupt();
    }
    int batch_count = 0;
  };
  auto uninterrupted_model = simple_model(), model = simple_model(), other_model = simple_model();
  start(*uninterrupted_model)->finish();
  auto run = start(*model, {{"callbacks", std::make_shared<InterruptingCallback>()}});
  auto other_run = start(*other_model);
  std::thread thread([&] { other_run->finish(); });
  CHECK_THROWS_AS(run->finish(), Interrupted);
  CHECK(run->batch() == 2);
  thread.join();
  CHECK(other_run->ended());
  run->finish();
  CHECK(bits(model->weights()) == bits(uninterrupted_model->weights()));
  const std::shared_ptr<Interruption> interruption = Interruption::current();
  clear_interrupt();
  std::thread([&] {
    CHECK_FALSE(interrupted());
    const InheritInterrupt inherited_interruption(interruption);
    interruption->request();
    CHECK(interrupted());
  }).join();
  CHECK(interrupted());
  clear_interrupt();
}
