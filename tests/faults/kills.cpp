// Processes that are killed by SIGKILL at random moments: while they save files, and while they
// train a model.
#include <unistd.h>

#include <cstring>
#include <random>

#include "crescent/crescent.h"
#include "report.h"
#include "savers.h"
#include "worker.h"

namespace crescent::faults {
namespace {

using FileTime = std::filesystem::file_time_type;

/// The time of the last write; the earliest time if the file does not exist.
FileTime write_time(const std::string& path) {
  std::error_code missing;
  const FileTime time = std::filesystem::last_write_time(path, missing);
  return missing ? FileTime::min() : time;
}

/// Waits until the worker has written the file again, and then for `extra_microseconds`.
void wait_for_progress(Worker& worker, const std::string& path, FileTime old_write_time,
                       unsigned extra_microseconds) {
  while (worker.runs() && write_time(path) == old_write_time) usleep(200);
  usleep(extra_microseconds);
}

// How many thousand numbers a file has; with 300, a save takes some milliseconds.
constexpr int kWidth = 300;

TEST_CASE("saves for ever", "[.worker]") {
  const Saver saver = savers(kWidth).at(std::stoul(worker_argument(0)));
  for (int generation = std::stoi(worker_argument(2));; ++generation)
    saver.save(worker_argument(1), generation);
}

TEST_CASE("S01, S09: 200 processes that are killed while saving lose no file") {
  constexpr int kKills = 200;
  const std::vector<Saver> all_savers = savers(kWidth);
  const Folder folder;
  std::mt19937 random(7);
  std::vector<int> generations(all_savers.size(), 1);
  int interrupted_save_count = 0;
  const auto path_of = [&](size_t i) { return folder / concat("m", i, all_savers[i].ending); };
  for (size_t i = 0; i < all_savers.size(); ++i) all_savers[i].save(path_of(i), 1);
  for (int round = 0; round < kKills; ++round) {
    const size_t i = static_cast<size_t>(round) % all_savers.size();
    CAPTURE(all_savers[i].name, round);
    int& generation = generations[i];
    const FileTime old_write_time = write_time(path_of(i));
    Worker worker("saves for ever",
                  {std::to_string(i), path_of(i), std::to_string(generation + 1)});
    wait_for_progress(worker, path_of(i), old_write_time, random() % 20'000);
    REQUIRE(worker.runs());
    worker.kill();
    const int loaded_generation = all_savers[i].load(path_of(i));
    REQUIRE(loaded_generation > generation);
    generation = loaded_generation;
    const size_t file_count_after_kill = folder.count();
    all_savers[i].save(path_of(i), ++generation);
    interrupted_save_count += folder.count() < file_count_after_kill;
    CHECK(folder.count() == all_savers.size());
  }
  report("S01 kill -9 at a random moment while saving in a loop", kKills,
         concat("0 files lost (", interrupted_save_count,
                " kills left a part, 0 after the next save)"));
}

// ---- processes that are killed while they train

constexpr int64_t kEpochs = 6;

/// A callback that sleeps in every batch, so that the process is likely to be killed during a
/// batch.
class SleepingCallback final : public Callback {
 public:
  void on_train_batch_end(int64_t, const Logs&) override { usleep(500); }
};

ModelPtr trained(const std::string& file, bool slow) {
  set_random_seed(5);
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 16}, {"activation", "tanh"}, {"input_shape", List{8}}}),
       make<Layer>("Dropout", {{"rate", 0.3}}), make<Layer>("BatchNormalization"),
       make<Layer>("Dense", {{"units", 1}})});
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}});
  const Tensor x = SeedGenerator(3).normal({200, 8}), y = ops::sum(x, {1}, true);
  List callbacks{
      make<Callback>("ReduceLROnPlateau", {{"monitor", "val_loss"}, {"patience", 1}}),
      make<Callback>("EarlyStopping", {{"patience", 3}, {"restore_best_weights", true}})};
  if (slow) callbacks.push_back(std::make_shared<SleepingCallback>());
  if (!file.empty()) {
    const std::filesystem::path path = file;
    callbacks.push_back(
        make<Callback>("BackupAndRestore", {{"backup_dir", path.parent_path().string()},
                                            {"file_name", path.filename().string()},
                                            {"save_freq", 4}}));
  }
  model->fit({x}, {y},
             {{"epochs", kEpochs},
              {"batch_size", 10},
              {"validation_split", 0.2},
              {"verbose", 0},
              {"callbacks", callbacks}});
  return model;
}

/// The weights of the model and the state of its optimizer, as bytes.
std::string bits(const Model& model) {
  std::string bytes;
  Variables variables = model.weights();
  for (const Variable& v : model.optimizer()->state()) variables.push_back(v);
  variables.push_back(model.shuffle_order().state());
  for (const Variable& v : variables)
    for (const double number : v.value().to_vector())
      bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  for (const auto& [name, values] : model.history()->history()) {
    bytes += name;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  return bytes;
}

TEST_CASE("trains", "[.worker]") {
  const ModelPtr model = trained(worker_argument(0), true);
  replace_file(worker_argument(1), bits(*model));
}

TEST_CASE("T01: training that is killed and started again ends with the bits of a whole run") {
  constexpr int kKills = 50;
  const std::string expected_bits = bits(*trained("", false));
  const Folder folder;
  std::mt19937 random(11);
  int kills = 0, runs = 0;
  for (; kills < kKills; ++runs) {
    const std::string run_file = folder / "run.h5", bits_file = folder / "bits";
    std::filesystem::remove(bits_file);
    for (bool has_ended = false; !has_ended;) {
      const FileTime old_write_time = write_time(run_file);
      Worker worker("trains", {run_file, bits_file});
      wait_for_progress(worker, run_file, old_write_time, random() % 40'000);
      has_ended = !worker.runs();
      if (has_ended) CHECK(worker.wait() == 0);
      kills += !has_ended;
    }
    REQUIRE(std::filesystem::exists(bits_file));
    CHECK(read_file(bits_file) == expected_bits);
    CHECK_FALSE(std::filesystem::exists(run_file));
  }
  report("T01 kill -9 at a random moment of training, and the same call again", kills,
         concat(runs, " runs, each with the bits of a run that was left alone"));
}

}  // namespace
}  // namespace crescent::faults
