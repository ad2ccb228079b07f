// Shards: the parts of a dataset for several processes.
#include "crescent/data/data.h"

namespace crescent {
namespace {

/// A shard that consists of every `count`-th batch of the source.
class BatchShard final : public Dataset {
 public:
  BatchShard(DatasetPtr source, int64_t index, int64_t count)
      : source_(std::move(source)), index_(index), count_(count) {}
  int64_t batches() const override {
    return source_->batches() < 0 ? -1 : source_->batches() / count_;
  }
  bool reads_files() const override { return source_->reads_files(); }
  void check() const override { source_->check(); }
  void begin_epoch() override { source_->begin_epoch(); }

  /// Takes a batch for each shard from the source, so that all shards have the same number of
  /// batches.
  bool next(Batch& batch) override {
    for (int64_t i = 0; i < count_; ++i)
      if (!source_->next(i == index_ ? batch : skipped_batch_)) return false;
    return true;
  }

  Value state() const override { return source_->state(); }
  void restore(const Value& state, int64_t batches) override {
    source_->restore(state, batches * count_);
  }

 private:
  DatasetPtr source_;
  int64_t index_, count_;
  Batch skipped_batch_;
};

}  // namespace

DatasetPtr shard(const DatasetPtr& data, int64_t index, int64_t count) {
  if (!data) fail("shard: expected a dataset, got none");
  if (count < 1 || index < 0 || index >= count)
    fail("shard: expected part 0 to ", count - 1, " of at least one, got part ", index, " of ",
         count);
  if (count == 1) return data;
  if (DatasetPtr own_shard = data->own_shard(index, count)) return own_shard;
  return std::make_shared<BatchShard>(data, index, count);
}

}  // namespace crescent
