// fit(..., {resume = ...}) and BackupAndRestore: runs that are aborted at any point and started
// again must end with the bits of an uninterrupted run. In tests/faults, processes are killed for
// the same check.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "crescent/crescent.h"
#include "small_model.h"

using namespace crescent;
using namespace crescent::small;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() : path(concat("/tmp/crescent_resume_", getpid())) { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return path + "/" + name; }
  std::string path;
};

/// Aborts the run at the end of a batch: by an error, as in a crash, or by an interruption, as
/// Ctrl-C does.
class AbortAtBatch final : public Callback {
 public:
  AbortAtBatch(int64_t last_batch, bool is_interrupt)
      : last_batch_(last_batch), is_interrupt_(is_interrupt) {}
  void on_train_batch_end(int64_t, const Logs&) override {
    if (++batches_ != last_batch_) return;
    if (is_interrupt_) return interrupt();
    fail("given up");
  }

 private:
  int64_t last_batch_, batches_ = 0;
  bool is_interrupt_;
};

constexpr int64_t kEpochs = 4, kBatches = 5;

std::shared_ptr<Sequential> model_of(int64_t seed) {
  set_random_seed(seed);
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 6}, {"activation", "tanh"}, {"input_shape", List{3}}}),
       make<Layer>("Dropout", {{"rate", 0.3}}), make<Layer>("Dense", {{"units", 1}})});
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}});
  return model;
}

std::shared_ptr<History> fit(Model& model, Dict more_options = {}, List callbacks = {}) {
  callbacks.push_back(make<Callback>(
      "ReduceLROnPlateau", {{"monitor", "val_loss"}, {"patience", 0}, {"min_delta", 10.0}}));
  more_options.set("callbacks", callbacks);
  more_options.set("epochs", kEpochs);
  more_options.set("batch_size", 8);
  more_options.set("validation_split", 0.2);
  more_options.set("verbose", 0);
  const Tensor x = data(50);
  return model.fit({x}, {targets(x)}, more_options);
}

void check_same(const Model& a, const Model& b) {
  for (const auto& [left, right] : {std::pair(a.weights(), b.weights()),
                                    std::pair(a.optimizer()->state(), b.optimizer()->state())})
    for (size_t i = 0; i < left.size(); ++i)
      CHECK(left[i].value().to_vector() == right[i].value().to_vector());
  CHECK(a.history()->epoch() == b.history()->epoch());
  CHECK(a.history()->history() == b.history()->history());
  CHECK(a.epochs_trained() == b.epochs_trained());
}

/// Calls fit again after every abort, each time with a model that has other initial weights.
template <class Fit>
std::shared_ptr<Model> fit_until_finished(int64_t step, bool is_interrupt, const Fit& fit) {
  for (int64_t attempt = 0;; ++attempt) {
    REQUIRE(attempt < 50);
    const auto model = model_of(100 + attempt);
    const auto aborting_callback = std::make_shared<AbortAtBatch>(step, is_interrupt);
    try {
      fit(*model, aborting_callback);
      if (model->epochs_trained() == kEpochs) return model;
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Contains("given up"));
    }
  }
}

}  // namespace

TEST_CASE("a run that is kept in a file goes on after crashes and interruptions") {
  const Folder folder;
  set_warning_handler([](std::string_view) {});
  const auto uninterrupted_model = model_of(1);
  fit(*uninterrupted_model);
  fs::create_directory(folder.path);
  for (const bool is_interrupt : {false, true})
    for (const int64_t step : {kBatches, kBatches + 2, 2 * kBatches}) {
      CAPTURE(is_interrupt, step);
      (void)model_of(1);  // advances the global random state
      // The first attempt has the initial weights of the uninterrupted run.
      const auto first_model = model_of(1);
      auto fit_with_resume = [&](Model& model, const CallbackPtr& aborting_callback) {
        fit(model, {{"resume", folder / "run.h5"}}, {aborting_callback});
      };
      try {
        fit_with_resume(*first_model, std::make_shared<AbortAtBatch>(step, is_interrupt));
      } catch (const Error&) {
      }
      CHECK(fs::exists(folder / "run.h5") == (is_interrupt || step > kBatches));
      if (!fs::exists(folder / "run.h5")) continue;
      check_same(*fit_until_finished(step, is_interrupt, fit_with_resume), *uninterrupted_model);
      CHECK(fs::is_empty(folder.path));
    }
  set_warning_handler(nullptr);
}

TEST_CASE("BackupAndRestore keeps the run every so many batches") {
  const Folder folder;
  const auto uninterrupted_model = model_of(1);
  fit(*uninterrupted_model);
  for (const int64_t save_interval : {1, 3, 7}) {
    CAPTURE(save_interval);
    auto fit_with_backup = [&](Model& model, const CallbackPtr& aborting_callback,
                               Dict more_options = {}) {
      more_options.set("backup_dir", folder.path);
      more_options.set("save_freq", save_interval);
      fit(model, {}, {aborting_callback, make<Callback>("BackupAndRestore", more_options)});
    };
    const auto first = model_of(1);
    CHECK_THROWS(fit_with_backup(*first, std::make_shared<AbortAtBatch>(8, false)));
    const auto last_model = fit_until_finished(8, false, fit_with_backup);
    check_same(*last_model, *uninterrupted_model);
    CHECK(fs::is_empty(folder.path));
  }
}

TEST_CASE("a damaged file of a run is reported, and the one before it used when it was kept") {
  const Folder folder;
  static std::string warning;
  set_warning_handler([](std::string_view text) { warning = text; });
  const auto uninterrupted_model = model_of(1);
  fit(*uninterrupted_model);
  for (const bool is_aborted_twice : {false, true}) {
    auto fit_with_backup = [&](Model& model, int64_t last_batch) {
      fit(model, {},
          {std::make_shared<AbortAtBatch>(last_batch, false),
           make<Callback>("BackupAndRestore", {{"backup_dir", folder.path},
                                               {"save_freq", 2},
                                               {"double_checkpoint", is_aborted_twice}})});
    };
    CHECK_THROWS(fit_with_backup(*model_of(1), 7));
    CHECK(fs::exists(folder / "run.previous.h5") == is_aborted_twice);
    fs::resize_file(folder / "run.h5", fs::file_size(folder / "run.h5") / 2);
    const auto resumed_model = model_of(2);
    if (is_aborted_twice) {
      fit_with_backup(*resumed_model, 1000);
      CHECK_THAT(warning, Contains("run.h5'") && Contains("going on from"));
      check_same(*resumed_model, *uninterrupted_model);
    } else {
      CHECK_THROWS_WITH(fit_with_backup(*resumed_model, 1000),
                        Contains("run.h5'") && Contains("delete it"));
      CHECK(resumed_model->epochs_trained() == 0);
      fs::remove(folder / "run.h5");
    }
  }
  set_warning_handler(nullptr);
}

TEST_CASE("files of a run stay when that is asked for: nothing is left to train then") {
  const Folder folder;
  auto fit_with_backup = [&](Model& model) {
    return fit(model, {},
               {make<Callback>("BackupAndRestore",
                               {{"backup_dir", folder.path}, {"delete_checkpoint", false}})});
  };
  const auto first = model_of(1), second = model_of(2);
  fit_with_backup(*first);
  CHECK(fit_with_backup(*second)->epoch().size() == kEpochs);
  check_same(*second, *first);
}

TEST_CASE("resume = true goes on with the run that was interrupted, or saved with the model") {
  const Folder folder;
  fs::create_directory(folder.path);
  set_warning_handler([](std::string_view) {});
  const auto uninterrupted_model = model_of(1), model = model_of(1);
  fit(*uninterrupted_model);
  fit(*model, {}, {std::make_shared<AbortAtBatch>(7, true)});
  CHECK(model->epochs_trained() == 1);
  save_model(*model, folder / "m.h5");
  fit(*model, {{"resume", true}});
  check_same(*model, *uninterrupted_model);
  const ModelPtr loaded_model = load_model(folder / "m.h5");
  fit(*loaded_model, {{"resume", true}});
  check_same(*loaded_model, *uninterrupted_model);

  // Without `resume`, or if no run was left unfinished, the next run starts anew.
  const ModelPtr reloaded_model = load_model(folder / "m.h5");
  CHECK(fit(*reloaded_model)->epoch().size() == kEpochs);
  CHECK(reloaded_model->epochs_trained() == 1 + kEpochs);
  fit(*reloaded_model, {{"resume", true}});
  CHECK(reloaded_model->epochs_trained() == 1 + 2 * kEpochs);
  set_warning_handler(nullptr);
}

TEST_CASE("a run goes on from a snapshot between the first batch and its step") {
  struct SnapshotBeforeStep final : Callback {
    void on_train_batch_begin(int64_t, const Logs&) override {
      if (snapshot.is_null()) snapshot = model_->training_run()->snapshot();
    }
    Value snapshot;
  };
  const Tensor x = data(20);
  const auto snapshot_callback = std::make_shared<SnapshotBeforeStep>();
  const auto uninterrupted_model = model_of(1), resumed_model = model_of(2);
  const Dict options{{"epochs", 2}, {"batch_size", 8}, {"verbose", 0}};
  Dict options_with_snapshot = options;
  options_with_snapshot.set("callbacks", List{snapshot_callback});
  uninterrupted_model->fit({x}, {targets(x)}, options_with_snapshot);
  const auto run = resumed_model->start_training({x}, {targets(x)}, options);
  run->restore(snapshot_callback->snapshot);
  run->finish();
  check_same(*resumed_model, *uninterrupted_model);
}

TEST_CASE("an interrupted run keeps its weights, from which it goes on, beside EarlyStopping") {
  set_warning_handler([](std::string_view) {});
  const auto stopping_callback = [] {
    return make<Callback>("EarlyStopping", {{"patience", 9}, {"restore_best_weights", true}});
  };
  const auto uninterrupted_model = model_of(1), model = model_of(1);
  fit(*uninterrupted_model, {}, {stopping_callback()});
  fit(*model, {}, {std::make_shared<AbortAtBatch>(7, true), stopping_callback()});
  fit(*model, {{"resume", true}}, {stopping_callback()});
  check_same(*model, *uninterrupted_model);
  set_warning_handler(nullptr);
}

TEST_CASE("the run is saved after the checkpoint, whose state it contains") {
  const Folder folder;
  const auto model = model_of(1);
  const Tensor x = data(8);
  const List callbacks{make<Callback>("BackupAndRestore", {{"backup_dir", folder.path}}),
                       make<Callback>("ModelCheckpoint", {{"filepath", folder / "best.keras"}}),
                       std::make_shared<AbortAtBatch>(1, false)};
  const auto ordered_dataset =
      model->start_training({x}, {targets(x)}, {{"callbacks", callbacks}})->callbacks();
  CHECK(ordered_dataset.back()->class_name() == "BackupAndRestore");
  CHECK(ordered_dataset[ordered_dataset.size() - 2]->class_name() == "ModelCheckpoint");
}

TEST_CASE("what resume and BackupAndRestore do not take") {
  const auto model = model_of(1);
  CHECK_THROWS_WITH(fit(*model, {{"resume", 3}}), Contains("the path of a file, got 3"));
  CHECK_THROWS_WITH(fit(*model, {{"resume", "folder/"}}), Contains("the path of a file"));
  CHECK_THROWS_WITH(make<Callback>("BackupAndRestore", {{"backup_dir", ""}}),
                    Contains("Empty `backup_dir` argument"));
  CHECK_THROWS_WITH(make<Callback>("BackupAndRestore", {{"backup_dir", "b"}, {"save_freq", 0}}),
                    Contains("save_freq must be"));
}
