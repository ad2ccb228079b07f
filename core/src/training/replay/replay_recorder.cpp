#include "training/replay/replay_recorder.h"

#include <atomic>

#include "crescent/program/division.h"
#include "crescent/registry/schema.h"
#include "training/replay/run_description.h"

namespace crescent {
namespace {

/// The number of the next recorded run of this process. A replay finds its run by this number and
/// not by the name of the folder, which may have been renamed.
int64_t next_run_number() {
  static std::atomic<int64_t> run_count{0};
  return ++run_count;
}

}  // namespace

void ReplayRecorder::describe(Schema<ReplayRecorder>& s) {
  s.doc(
       "Records hashes of each step's batch and of all weights and states after it, so that "
       "`crescent replay FOLDER --step N` can compute a step again and compare it.")
      .field(
          "record_dir", &ReplayRecorder::folder_,
          "Folder of the record; created if missing. What another run recorded there is replaced.")
      .required()
      .field("save_freq", &ReplayRecorder::save_freq_,
             "Batches between two backups of the run, from which a replay begins.")
      .min(1)
      .field("record_freq", &ReplayRecorder::record_freq_,
             "Batches from one recorded step to the next; 1 records every step.")
      .min(1)
      .field("max_to_keep", &ReplayRecorder::max_to_keep_,
             "Number of backups that are kept, the latest; steps before them cannot be replayed. "
             "All if none is given.")
      .min(1);
}

void ReplayRecorder::configured() {
  if (folder_.empty()) fail("Empty `record_dir` argument passed. Please specify a valid folder.");
}

void ReplayRecorder::try_resume(TrainingRun& run) {
  const ReplayTask* task = replay_task();
  if (!task || next_run_number() != task->run) return;
  replay_.emplace(*task, run);
  step_ = replay_->backup_step();
}

void ReplayRecorder::on_train_begin(const Logs&) {
  has_begun_record_ = false;
  writer_.reset();
  if (!replay_task()) run_number_ = next_run_number();
}

void ReplayRecorder::on_train_batch_begin(int64_t, const Logs&) {
  if (!has_begun_record_ && !replay_task()) begin_record(*model_->training_run());
  ++step_;
}

/// Begins the record and writes a backup, for which the model must be built.
void ReplayRecorder::begin_record(const TrainingRun& run) {
  has_begun_record_ = true;
  if (any_divided(model_->weights()))
    fail("weights that are divided among processes cannot be recorded");
  if (!is_reporting_process()) return;
  Stepper(*model_).prepare(run.state().training_pass.batches().inputs());
  writer_.emplace(folder_, run_description(run.state(), run_number_, record_freq_), step_);
  write_or_give_up([&] { writer_->back_up(run, step_, max_to_keep_); });
}

void ReplayRecorder::on_train_batch_end(int64_t batch, const Logs& logs) {
  if (replay_ ? replay_->has_step(step_) : step_ % record_freq_ == 0) hash_step(batch, logs);
  if (writer_ && step_ % save_freq_ == 0)
    write_or_give_up([&] { writer_->back_up(*model_->training_run(), step_, max_to_keep_); });
}

/// Computes hashes of the step, which all processes must do together. One process then records the
/// hashes, or compares them with the record.
void ReplayRecorder::hash_step(int64_t batch, const Logs& logs) {
  const TrainingRunPtr run = model_->training_run();
  RecordedStep step{step_, run->epoch() + 1, batch + 1, batch_hashes(run->state()), {}, {}, {}};
  if (!writer_ && !replay_) return;
  hasher_.add_variables(step, *model_);
  for (const auto& [name, value] : logs.values()) step.logs.set(name, value);
  if (replay_) return replay_->compare(step, *model_);
  write_or_give_up([&] { writer_->add(step); });
}

void ReplayRecorder::on_train_end(const Logs&) {
  if (replay_) replay_->end_without_step(step_);
  writer_.reset();
  hasher_ = {};
}

/// Writes to the record. If that fails, training continues without a record.
template <class Write>
void ReplayRecorder::write_or_give_up(const Write& write) try {
  write();
} catch (const Interrupted&) {
  throw;
} catch (const Error& error) {
  warn("ReplayRecorder: nothing is recorded from step ", step_, " on: ", error.what());
  writer_.reset();
}

}  // namespace crescent
