// The record of a training run: a folder with a journal of hashes, a line a step, and backups of
// the run.
//
// The journal has three kinds of records. {"run": {...}, "after": k} begins the steps of a process
// and takes back those after step k; {"variables": [[name, spec], ...]} tells what the hashes of
// the following steps are of; {"step": n, ...} is a step.
#pragma once
#include "search/journal.h"
#include "training/replay/step_hashes.h"

namespace crescent {

std::string backup_path(const std::string& folder, int64_t step);
/// The steps after which there is a backup, in ascending order.
std::vector<int64_t> backups_in(const std::string& folder);

class RecordWriter {
 public:
  /// Makes a new record, or continues one behind step `after` if that is not 0. `run` describes the
  /// run of this process.
  RecordWriter(std::string folder, const Dict& run, int64_t after);
  void add(const RecordedStep& step);
  /// Writes a backup of the run after this step, and removes the oldest ones beyond `max`.
  void back_up(const TrainingRun& run, int64_t step, std::optional<int64_t> max);

 private:
  std::string folder_;
  Journal journal_;
  Journal::Lock lock_;  ///< held while the writer lives: others read with Journal::visit_file
  std::shared_ptr<const VariableSpecs> variables_;  ///< those of the last step
};

/// A part of a record.
struct Record {
  Dict run;  ///< describes the run that computed the last step of the part; if that is empty, the
             ///< last run
  std::vector<RecordedStep> steps;  ///< in ascending order
  int64_t first = 0, last = 0;      ///< the first and the last step of the whole record; 0: none
};
/// Reads the steps from `from` to `to`. Fails if the folder has no record.
Record read_record(const std::string& folder, int64_t from, int64_t to);

}  // namespace crescent
