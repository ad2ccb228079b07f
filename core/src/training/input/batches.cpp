#include "training/input/batches.h"

#include "crescent/program/activity.h"
#include "crescent/system/interrupt.h"
#include "training/input/gathered_batch.h"
#include "training/input/run_limits.h"

namespace crescent {
namespace {

/// The dataset that reads only the rows that this process needs; another thread prefetches batches
/// from files.
DatasetPtr dataset_to_read(const DatasetPtr& data, const ProcessGroup& group) {
  const NeededRows needed_rows = group.needed_rows();
  const DatasetPtr source = data && needed_rows ? data->with_needed(needed_rows) : data;
  return source && source->reads_files() ? prefetch(source) : source;
}

int64_t count_in(const Dict& position, const char* name) {
  const int64_t count = position.at(name).as_int();
  if (count < 0) fail("snapshot: expected a number of batches as '", name, "', got ", count);
  return count;
}

}  // namespace

Batches::Batches(const char* run_name, const DatasetPtr& data, std::optional<int64_t> steps,
                 bool continues_across_epochs, ProcessGroup group)
    : run_name_(run_name),
      data_(dataset_to_read(data, group)),
      steps_(limited_steps(data, steps)),
      continues_across_epochs_(continues_across_epochs && steps_),
      group_(std::move(group)) {}

void Batches::begin() {
  mark_done();
  batches_done_ = 0;
  if (!continues_across_epochs_ || !has_started_ || has_ended_) begin_epoch();
}

void Batches::begin_epoch() {
  data_->begin_epoch();
  expected_batches_ = data_->batches();
  has_started_ = true;
  has_ended_ = false;
  fetched_in_dataset_epoch_ = 0;
  batch_state_ = BatchState::none;
}

const Batch* Batches::next() {
  mark_done();
  enter_batch(run_name_, batches_done_ + 1);
  const BatchEvent own_event = next_event(),
                   agreed_event{group_.max_over_processes(static_cast<int>(own_event))};
  if (agreed_event == BatchEvent::end) {
    if (own_event == BatchEvent::batch) warn_of_unused_data();
    return nullptr;
  }
  if (agreed_event == BatchEvent::interruption) {
    const bool is_own_interruption = interrupted();
    if (!is_own_interruption)
      interrupt();  // makes the callbacks of all processes see the interruption
    const std::string count_text = count() >= 0 ? concat(" of ", count()) : "";
    const char* process_text = is_own_interruption ? "" : " in another process";
    throw Interrupted(concat(run_name_, ": interrupted", process_text, " after batch ",
                             batches_done_, count_text));
  }
  batch_state_ = BatchState::returned;
  if (!batch_.x.empty() && batch_.x.front() && batch_.x.front().rank() > 0 &&
      batch_.x.front().dim(0) == 0)
    fail(run_name_, ": the data gave a batch without samples, shape ", batch_.x.front().shape());
  if (group_.gathers_parts()) return gather(), &own_batch_;
  if (!group_.shares_batches() && !group_.uses_logical_shards()) return &batch_;
  set_share();
  return &own_batch_;
}

/// Warns that the epoch ends because another process has no more data, although this process has
/// data left.
void Batches::warn_of_unused_data() const {
  if (group_.gathers_parts())
    warn(run_name_, ": the data of another process ended after ", batches_done_,
         " batches, those of rank ", group_.communicator()->rank(),
         " go on and are not used. Each process has the same number of batches");
}

/// Sets whole_batch_ to the gathered batch of all processes, share_ to the rows that this process
/// computes, and own_batch_ to the batch with all targets but only the inputs of these rows.
void Batches::gather() {
  if (batch_.x.empty() || !batch_.x.front() || batch_.x.front().rank() == 0)
    fail(run_name_,
         ": expected a batch of arrays with a batch axis, of which each process has a part");
  GatheredBatch batch = gather_batch(group_, batch_, group_.needs_all_inputs());
  whole_batch_ = own_batch_ = std::move(batch.whole_batch);
  share_ = group_.shares_batches() ? batch.own_rows : Share();
  if (group_.uses_logical_shards())
    share_ = group_.share(batch.own_rows.whole);
  else if (group_.shares_batches())
    own_batch_.x = batch_.x;
}

/// Sets share_ to the rows of the batch for this process, and own_batch_ to the batch with views of
/// these rows as inputs. With logical shards, the inputs stay whole, and the program cuts the
/// shards from them; the dataset has read only the rows of this process.
void Batches::set_share() {
  own_batch_ = batch_;
  share_ = {};
  if (batch_.x.empty() || !batch_.x.front() || batch_.x.front().rank() == 0) return;
  share_ = group_.share(batch_.x.front().dim(0));
  if (share_.shards > 0) return;
  for (Tensor& x : own_batch_.x) x = x.view_rows(share_.begin(), share_.rows());
}

/// Returns the next event of this process, without regard to the other processes.
Batches::BatchEvent Batches::next_event() {
  if (steps_ && batches_done_ == *steps_) return data_->check(), BatchEvent::end;
  if (is_interrupted()) return BatchEvent::interruption;
  if (batch_state_ == BatchState::none && !fetch()) return BatchEvent::end;
  batch_state_ = BatchState::fetched;
  return is_interrupted() ? BatchEvent::interruption : BatchEvent::batch;
}

void Batches::mark_done() {
  if (batch_state_ != BatchState::returned) return;
  batch_state_ = BatchState::none;
  any_done_ = true;
  ++batches_done_;
  ++fetched_in_dataset_epoch_;
}

/// A request to stop is ignored after the last batch.
bool Batches::is_interrupted() const { return interrupted() && batches_done_ != count(); }

bool Batches::fetch() {
  own_batch_ = whole_batch_ = {};  // releases views of the batch, so that its memory can be reused
  if (data_->next(batch_)) return true;
  has_ended_ = true;
  // Begins a new epoch of the dataset if the previous epoch of training ended exactly at the end of
  // the data.
  if (continues_across_epochs_ && batches_done_ == 0 && fetched_in_dataset_epoch_ > 0) {
    begin_epoch();
    return fetch();
  }
  warn_of_early_end();
  return false;
}

void Batches::warn_of_early_end() {
  if (steps_)
    warn("Your input ran out of data after ", batches_done_, " of ", *steps_,
         " steps. Make sure that your dataset or generator can "
         "generate at least `steps_per_epoch * epochs` batches.");
  else if (fetched_in_dataset_epoch_ < expected_batches_ && !std::exchange(has_warned_, true))
    warn("Your input ran out of data after ", fetched_in_dataset_epoch_, " of ", expected_batches_,
         " batches. Make sure that your dataset or generator gives as many as it announces.");
}

std::optional<BatchSpecs> Batches::specs() const {
  if (batch_.x.empty()) return std::nullopt;
  BatchSpecs specs(batch_);
  if (share_) specs.set_rows(share_.whole);
  return specs;
}

Dict Batches::position() const {
  return {{"batches", batches_done_},
          {"given", fetched_in_dataset_epoch_},
          {"begun", has_started_},
          {"samples", samples()},
          {"source", data_->state()}};
}

void Batches::restore(const Dict& position) {
  const int64_t samples = position.at("samples").as_int();
  if (samples != this->samples())
    fail(run_name_, ": the snapshot was taken with ", samples, " samples of data, here are ",
         this->samples());
  batches_done_ = count_in(position, "batches");
  fetched_in_dataset_epoch_ = count_in(position, "given");
  has_started_ = position.at("begun").as_bool();
  has_ended_ = false;
  batch_state_ = BatchState::none;
  if (!has_started_) return;
  data_->restore(position.at("source"), fetched_in_dataset_epoch_);
  expected_batches_ = data_->batches();
}

}  // namespace crescent
