// The record of a training run: a folder that contains a journal with hashes of each step, and
// backups of the run.
//
// The journal has three kinds of records. {"run": {...}, "after": k} is written when a process
// begins to record; earlier records of steps after step k are void from then on. {"variables":
// [[name, spec], ...]} lists the variables whose hashes the following steps contain. {"step": n,
// ...} is a step.
#pragma once
#include "search/journal.h"
#include "training/replay/step_hashes.h"

namespace crescent {

std::string backup_path(const std::string& folder, int64_t step);
/// The steps after which there is a backup, in ascending order.
std::vector<int64_t> backups_in(const std::string& folder);

class RecordWriter {
 public:
  /// Begins a record or, if `after_step` is not 0, continues a record after step number
  /// `after_step`. `run_info` describes the run of this process.
  RecordWriter(std::string folder, const Dict& run_info, int64_t after_step);
  void add(const RecordedStep& step);
  /// Writes a backup of the run after this step, and removes the oldest backups if there are more
  /// than `max_backups`.
  void back_up(const TrainingRun& run, int64_t step, std::optional<int64_t> max_backups);

 private:
  std::string folder_;
  Journal journal_;
  /// The lock is held while the writer lives; other processes read with Journal::visit_file().
  Journal::Lock lock_;
  std::shared_ptr<const VariableSpecs> variables_;  ///< the variables of the last step
};

/// The steps of a record that read_record() has read.
struct Record {
  /// Describes the run that computed the last of `steps` or, if `steps` is empty, the last run of
  /// the record.
  Dict run_info;
  std::vector<RecordedStep> steps;        ///< the steps in ascending order
  int64_t first_step = 0, last_step = 0;  ///< of the whole record; 0: it has no steps
};
/// Reads the steps from `first_step` to `last_step`, both included. Fails if the folder has no
/// record.
Record read_record(const std::string& folder, int64_t first_step, int64_t last_step);

}  // namespace crescent
