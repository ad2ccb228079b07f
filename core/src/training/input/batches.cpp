#include "training/input/batches.h"

#include "crescent/program/activity.h"
#include "crescent/system/interrupt.h"

namespace crescent {
namespace {

int64_t count_in(const Dict& position, const char* name) {
  const int64_t count = position.at(name).as_int();
  if (count < 0) fail("snapshot: expected a number of batches as '", name, "', got ", count);
  return count;
}

}  // namespace

Batches::Batches(const char* run, DatasetPtr data, std::optional<int64_t> steps, bool goes_on,
                 ProcessGroup group)
    : run_(run),
      data_(data && data->reads_files() ? prefetch(std::move(data)) : std::move(data)),
      steps_(steps),
      goes_on_(goes_on && steps),
      group_(std::move(group)) {}

void Batches::begin() {
  done();
  taken_ = 0;
  if (!goes_on_ || !started_ || ended_) begin_epoch();
}

void Batches::begin_epoch() {
  data_->begin_epoch();
  started_ = true;
  ended_ = false;
  given_ = 0;
  batch_state_ = BatchState::none;
}

const Batch* Batches::next() {
  done();
  enter_batch(run_, taken_ + 1);
  const Next next{group_.max_over_processes(static_cast<int>(prepare()))};
  if (next == Next::end) return nullptr;
  if (next == Next::interruption) {
    const bool here = interrupted();
    if (!here) interrupt();  // callbacks of all processes must see the interruption
    const std::string of = count() >= 0 ? concat(" of ", count()) : "";
    const char* where = here ? "" : " in another process";
    throw Interrupted(concat(run_, ": interrupted", where, " after batch ", taken_, of));
  }
  batch_state_ = BatchState::given;
  if (!batch_.x.empty() && batch_.x.front() && batch_.x.front().rank() > 0 &&
      batch_.x.front().dim(0) == 0)
    fail(run_, ": the data gave a batch without samples, shape ", batch_.x.front().shape());
  if (!group_.shares() && !group_.in_shards()) return &batch_;
  take_share();
  return &own_;
}

/// Sets share_ to the rows of the batch for this process and own_ to the batch with views of these
/// rows as inputs. The program cuts logical shards from the inputs of the whole batch.
void Batches::take_share() {
  own_ = batch_;
  share_ = {};
  if (batch_.x.empty() || !batch_.x.front() || batch_.x.front().rank() == 0) return;
  share_ = group_.share(batch_.x.front().dim(0));
  if (share_.shards > 0) return;
  for (Tensor& x : own_.x) x = x.view_rows(share_.begin(), share_.rows());
}

/// Returns what this process would do next if it trained alone.
Batches::Next Batches::prepare() {
  if (steps_ && taken_ == *steps_) return data_->check(), Next::end;
  if (is_interrupted()) return Next::interruption;
  if (batch_state_ == BatchState::none && !fetch()) return Next::end;
  batch_state_ = BatchState::fetched;
  return is_interrupted() ? Next::interruption : Next::batch;
}

void Batches::done() {
  if (batch_state_ != BatchState::given) return;
  batch_state_ = BatchState::none;
  ++taken_;
  ++given_;
}

/// A request to stop is ignored after the last batch.
bool Batches::is_interrupted() const { return interrupted() && taken_ != count(); }

bool Batches::fetch() {
  own_ = {};  // releases views of the batch, so that its memory can be reused
  if (data_->next(batch_)) return true;
  ended_ = true;
  // Begins a new epoch of the dataset if the previous epoch of training ended exactly at the end of
  // the data.
  if (goes_on_ && taken_ == 0 && given_ > 0) {
    begin_epoch();
    return fetch();
  }
  if (steps_)
    warn("Your input ran out of data after ", taken_, " of ", *steps_,
         " steps. Make sure that your dataset or generator can "
         "generate at least `steps_per_epoch * epochs` batches.");
  return false;
}

Dict Batches::position() const {
  return {{"batches", taken_},
          {"given", given_},
          {"begun", started_},
          {"samples", samples()},
          {"source", data_->state()}};
}

void Batches::restore(const Dict& position) {
  const int64_t samples = position.at("samples").as_int();
  if (samples != data_->samples())
    fail(run_, ": the snapshot was taken with ", samples, " samples of data, here are ",
         data_->samples());
  taken_ = count_in(position, "batches");
  given_ = count_in(position, "given");
  started_ = position.at("begun").as_bool();
  ended_ = false;
  batch_state_ = BatchState::none;
  if (started_) data_->restore(position.at("source"), given_);
}

}  // namespace crescent
