// Helpers of the tests in this folder: searches with several workers that take turns in random
// order.
#pragma once
#include <unistd.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "crescent/search/study.h"

namespace searches {

using namespace crescent;

/// The name of a temporary file, which is removed at the end of the scope.
class TemporaryFile {
 public:
  TemporaryFile() {
    const int descriptor = mkstemp(path_.data());
    if (descriptor >= 0) close(descriptor);
    unlink(path_.c_str());
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/crescent-search-XXXXXX";
};

/// Asks a trial for hyperparameters, and returns its score after a number of steps.
using Objective = std::function<double(Trial& trial, int64_t step)>;

/// A worker with its own Study object for the common journal, as in a process of its own.
struct Worker {
  StudyPtr study;
  TrialPtr trial;
  int64_t step = 0;
};

/// Runs one step of the worker's trial; a worker without a trial asks for one. Returns whether the
/// search has ended.
inline bool advance(Worker& worker, const Objective& objective, int64_t steps) {
  bool has_ended = false;
  if (!worker.trial) {
    worker.trial = worker.study->try_ask(&has_ended);
    worker.step = 0;
    if (worker.trial) {
      objective(*worker.trial, 0);
      worker.trial->save_values();
    }
    return has_ended;
  }
  const double score = objective(*worker.trial, ++worker.step);
  worker.trial->report(score, worker.step);
  const bool is_pruned = worker.step < steps && worker.trial->should_prune();
  if (!is_pruned && worker.step < steps) return false;
  worker.study->tell(*worker.trial, score,
                     is_pruned ? TrialRecord::State::pruned : TrialRecord::State::complete);
  worker.trial = nullptr;
  return false;
}

/// Runs a search with workers that take turns in random order; returns all trials by number.
inline std::vector<TrialRecord> search(Dict options, int worker_count, const Objective& objective,
                                       int64_t steps = 1, unsigned schedule_seed = 1) {
  const TemporaryFile file;
  options.set("journal", file.path());
  std::vector<Worker> workers;
  for (int i = 0; i < worker_count; ++i) workers.push_back({Study::open(options), nullptr});
  std::mt19937 random(schedule_seed);
  for (bool has_ended = false; !has_ended;)
    has_ended = advance(workers[random() % workers.size()], objective, steps);
  workers[0].study->update();
  std::vector<TrialRecord> trials;
  const TrialHistory& history = workers[0].study->history();
  for (int64_t i = 1; i <= history.size(); ++i) trials.push_back(history.at(i));
  return trials;
}

/// The Branin function, whose minimum is 0.397887.
inline double branin(double x, double y) {
  const double pi = 3.14159265358979323846;
  const double a = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}
inline double branin_of(Trial& trial, int64_t) {
  const double x = trial.suggest(Hyperparameter::real("x", -5, 10)).as_float();
  return branin(x, trial.suggest(Hyperparameter::real("y", 0, 15)).as_float());
}

/// An objective with hyperparameters of several types, one of them conditional; its value falls
/// with the steps.
inline double mixed_objective(Trial& trial, int64_t step) {
  const double rate =
      trial.suggest(Hyperparameter::real("rate", 1e-4, 1, {0, Sampling::log, {}})).as_float();
  const Value kind = trial.suggest(Hyperparameter::choice("kind", {"wide", "deep"}));
  Hyperparameter layers = Hyperparameter::integer("layers", 1, 6);
  layers.conditions = {{"kind", {"deep"}}};
  const Value depth = trial.suggest(layers);
  const double cost = std::abs(std::log10(rate) + 2) + (kind.as_string() == "deep" ? 0.2 : 1) +
                      (depth.is_null() ? 0 : std::abs(depth.as_float() - 3));
  return cost * (1 + 1.0 / static_cast<double>(1 + step));
}

}  // namespace searches
