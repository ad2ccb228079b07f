// ReplayRecorder records hashes of every step of a training run and backups of the run, with which
// `crescent replay` computes a step again.
#pragma once
#include <optional>

#include "training/replay/step_replay.h"

namespace crescent {

class ReplayRecorder final : public Callback {
 public:
  static void describe(Schema<ReplayRecorder>& s);
  void configured() override;
  void try_resume(TrainingRun& run) override;
  void on_train_begin(const Logs& logs) override;
  void on_train_batch_begin(int64_t batch, const Logs& logs) override;
  void on_train_batch_end(int64_t batch, const Logs& logs) override;
  void on_train_end(const Logs& logs) override;
  Dict get_state() const override { return {{"step", step_}}; }
  void set_state(const Dict& state) override { step_ = state.at("step").as_int(); }
  bool comes_last() const override { return true; }

 private:
  void begin_record(const TrainingRun& run);
  void hash_step(int64_t batch, const Logs& logs);
  template <class Write>
  void write_or_give_up(const Write& write);

  std::string folder_;
  int64_t save_freq_ = 1000, record_freq_ = 1;
  std::optional<int64_t> max_to_keep_;

  int64_t step_ = 0;  ///< the number of the last step that was begun; it counts through all runs
  int64_t run_number_ = 0;  ///< the number of the run among the recorded runs of this process
  bool has_begun_record_ = false;  ///< whether the record of the run has begun
  StepHasher hasher_;
  std::optional<RecordWriter> writer_;  ///< empty in processes that do not write the record
  std::optional<StepReplay> replay_;    ///< set while the recorded run is replayed
};

}  // namespace crescent
