// Eight processes search together and are killed at random moments: no trial is lost or run twice,
// and the trials are the same as with one process. $CRESCENT_SEARCH_TRIALS and
// $CRESCENT_SEARCH_KILLS are the numbers of trials and of kills; the defaults are small.
#include <sys/mman.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "crescent/system/process.h"
#include "support.h"

namespace {

using namespace crescent;
using namespace searches;
using namespace std::chrono_literals;

constexpr int kProcesses = 8, kSteps = 3;
constexpr int64_t kMaxTrials = 100000;

int64_t number_from(const char* variable, int64_t fallback) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : fallback;
}

/// What the processes write about each trial into memory that all processes share.
struct SharedRecords {
  std::atomic<int> owner[kMaxTrials + 1];         ///< the process that runs the trial
  std::atomic<int> steps[kMaxTrials + 1];         ///< completed steps of the trial
  std::atomic<int> score_counts[kMaxTrials + 1];  ///< how many times the trial has got its score
  std::atomic<double> value[kMaxTrials + 1];      ///< hyperparameter of the trial; 0: not drawn yet
  std::atomic<int> resumed_count, error_count;
};

SharedRecords& map_shared_records() {
  void* memory = mmap(nullptr, sizeof(SharedRecords), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return *new (memory) SharedRecords();
}

/// Whether the process is still running after a second; false as soon as it has ended.
bool is_still_running(int process) {
  for (int i = 0; i < 200; ++i) {
    std::ifstream file(concat("/proc/", process, "/stat"));
    std::string id, name, state;
    if (!(file >> id >> name >> state) || state == "Z" || state == "X") return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

double value_of(Trial& trial) {
  return 1 + trial.suggest(Hyperparameter::real("x", 0, 1)).as_float();
}

void run_trial(Study& study, Trial& trial, SharedRecords& records) {
  const int64_t k = trial.number();
  const int previous_owner = records.owner[k].exchange(getpid());
  if (previous_owner != 0 && previous_owner != getpid() && is_still_running(previous_owner))
    ++records.error_count;
  if (records.steps[k] > 0) ++records.resumed_count;
  const double x = value_of(trial), known_value = records.value[k].exchange(x);
  if (known_value != 0 && known_value != x) ++records.error_count;
  while (records.steps[k] < kSteps) {
    std::this_thread::sleep_for(200us);
    const int step = records.steps[k] + 1;
    trial.report(x / step, step);
    records.steps[k] = step;
  }
  study.tell(trial, x);
  ++records.score_counts[k];
}

int run_worker(const Dict& options, SharedRecords& records) {
  const StudyPtr study = Study::open(options);
  while (const TrialPtr trial = study->ask()) run_trial(*study, *trial, records);
  return 0;
}

}  // namespace

TEST_CASE("Eight processes under kill -9 lose no trial and run none twice") {
  const int64_t trial_count = number_from("CRESCENT_SEARCH_TRIALS", 2000);
  const int64_t max_kill_count = number_from("CRESCENT_SEARCH_KILLS", 60);
  REQUIRE(trial_count <= kMaxTrials);
  const TemporaryFile file;
  const Dict options{{"journal", file.path()}, {"seed", 11}, {"max_trials", trial_count}};
  SharedRecords& records = map_shared_records();
  std::vector<std::unique_ptr<Process>> processes;
  const auto start_process = [&] {
    return std::make_unique<Process>(Process::copy([&] { return run_worker(options, records); }));
  };
  for (int i = 0; i < kProcesses; ++i) processes.push_back(start_process());
  std::mt19937 random(12);
  const auto begin_time = std::chrono::steady_clock::now();
  int64_t kill_count = 0;
  while (kill_count < max_kill_count) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % (15000 + 10 * trial_count)));
    std::unique_ptr<Process>& victim = processes[random() % processes.size()];
    if (!victim->runs()) break;
    victim->kill();
    ++kill_count;
    victim = start_process();
  }
  for (const auto& process : processes) CHECK(process->wait() == 0);
  CHECK(kill_count == max_kill_count);
  CHECK(records.error_count == 0);
  CHECK(records.resumed_count > 0);

  const StudyPtr study = Study::open(options);
  const TrialHistory& history = study->history();
  CHECK(history.size() == trial_count);
  int64_t wrong_count = 0;
  for (int64_t i = 1; i <= trial_count; ++i) {
    const TrialRecord& trial = history.at(i);
    const double x = draw(11, i, "x");
    wrong_count += trial.state != TrialRecord::State::complete || trial.values != Dict{{"x", x}} ||
                   trial.score != 1 + x || trial.reports.size() != kSteps ||
                   records.score_counts[i] > 1;
  }
  CHECK(wrong_count == 0);
  int64_t score_count = 0;
  std::ifstream lines(file.path());
  for (std::string line; std::getline(lines, line);)
    score_count += line.find("{\"tell\"") != line.npos;
  CHECK(score_count == trial_count);
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin_time;
  WARN(trial_count << " trials, " << kill_count << " kills, " << records.resumed_count
                   << " trials cut and gone on, " << duration.count() << " s");
  munmap(&records, sizeof records);
}

TEST_CASE("A trial costs less than a millisecond besides what it computes") {
  const int64_t trial_count = number_from("CRESCENT_SEARCH_TRIALS", 2000);
  for (const char* oracle : {"random", "hyperband", "bayesian"}) {
    const TemporaryFile file;
    Dict config;
    if (oracle == std::string("hyperband")) config = {{"max_epochs", 2000}, {"factor", 4}};
    const auto study = Study::open({{"journal", file.path()},
                                    {"oracle", Dict{{"class_name", oracle}, {"config", config}}},
                                    {"seed", 1},
                                    {"max_trials", trial_count}});
    const std::clock_t begin_time = std::clock();
    int64_t count = 0;
    while (const TrialPtr trial = study->ask()) {
      study->tell(*trial, branin_of(*trial, 1));
      ++count;
    }
    const double milliseconds =
        1e3 * static_cast<double>(std::clock() - begin_time) / CLOCKS_PER_SEC;
    WARN(oracle << ": " << milliseconds / static_cast<double>(count)
                << " ms of the processor a trial, " << count << " trials");
    CHECK(milliseconds < 1.0 * static_cast<double>(count));
  }
}
