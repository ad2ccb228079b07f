// The interface of datasets, and the dataset of a function that makes batches.
#include "crescent/data/data.h"

#include "crescent/system/interrupt.h"

namespace crescent {
namespace {

void check_skip_interruption() {
  heed_interruption("data passed over what a run was given before it was kept");
}

[[noreturn]] void fail_too_short(int64_t available_batches, int64_t required_batches) {
  fail("restore: the data gave ", available_batches, " of ", required_batches,
       " batches that the snapshot's run was past: it is other data");
}

}  // namespace

Dataset::~Dataset() = default;

DatasetPtr Dataset::with_needed(const NeededRows&) {
  return std::static_pointer_cast<Dataset>(shared_from_this());
}

void Dataset::restore(const Value&, int64_t batches) {
  Batch unused_batch;
  begin_epoch();
  for (int64_t batch = 0; batch < batches; ++batch) {
    check_skip_interruption();
    if (!next(unused_batch)) fail_too_short(batch, batches);
  }
}

namespace {

class GeneratorDataset final : public Dataset {
 public:
  GeneratorDataset(std::function<bool(Batch&)> produce, int64_t batches)
      : produce_(std::move(produce)), batches_(batches) {}
  int64_t batches() const override { return batches_; }
  void begin_epoch() override {
    batches_done_ = 0;
    earlier_call_count_ = call_count_;
  }
  bool next(Batch& batch) override {
    if (batches_ >= 0 && batches_done_ == batches_) return false;
    ++call_count_;
    if (!produce_(batch)) return false;
    ++batches_done_;
    return true;
  }
  /// The number of calls of the function in earlier epochs. restore() calls the function as often
  /// as the saved run did, so the function must give the same batches again.
  Value state() const override { return earlier_call_count_; }
  void restore(const Value& state, int64_t batches) override {
    const int64_t old_count = state.as_int(), required_count = old_count + batches;
    if (call_count_ > required_count)
      fail("restore: the generator was asked ", call_count_,
           " times already and cannot go back to ", required_count, ": give the run a new one");
    for (Batch unused_batch; call_count_ < required_count; ++call_count_) {
      check_skip_interruption();
      if (!produce_(unused_batch) && call_count_ >= old_count)
        fail_too_short(call_count_ - old_count, batches);
    }
    earlier_call_count_ = old_count;
    batches_done_ = batches;
  }

 private:
  std::function<bool(Batch&)> produce_;
  int64_t batches_, batches_done_ = 0;
  int64_t call_count_ = 0;          ///< number of calls of the function in all epochs
  int64_t earlier_call_count_ = 0;  ///< number of calls in the epochs before this one
};

}  // namespace

DatasetPtr generator_dataset(std::function<bool(Batch&)> produce, int64_t batches) {
  return std::make_shared<GeneratorDataset>(std::move(produce), batches);
}

}  // namespace crescent
