#include "training/input/class_weighted.h"

#include "training/input/arrays.h"

namespace crescent {
namespace {

/// A dataset that multiplies sample weights by class weights. reads_files() returns false even if
/// the data are in files, because prefetching would run the multiplication on another thread than
/// the training thread.
class ClassWeighted final : public Dataset {
 public:
  ClassWeighted(const Model& model, DatasetPtr data, Value weights)
      : model_(model), data_(std::move(data)), weights_(std::move(weights)) {}
  int64_t samples() const override { return data_->samples(); }
  int64_t batches() const override { return data_->batches(); }
  void begin_epoch() override { data_->begin_epoch(); }
  bool next(Batch& batch) override {
    if (!data_->next(batch)) return false;
    Arrays arrays{batch.x, batch.y, batch.sample_weight};
    weight_classes(model_, arrays, weights_);
    batch.sample_weight = std::move(arrays.weights);
    return true;
  }
  void check() const override { data_->check(); }
  Value state() const override { return data_->state(); }
  void restore(const Value& state, int64_t batches) override { data_->restore(state, batches); }
  DatasetPtr with_needed(const NeededRows& needed_rows) override {
    return std::make_shared<ClassWeighted>(model_, data_->with_needed(needed_rows), weights_);
  }

 private:
  const Model& model_;
  DatasetPtr data_;
  Value weights_;
};

}  // namespace

DatasetPtr class_weighted(const Model& model, DatasetPtr data, const Value& class_weight) {
  return std::make_shared<ClassWeighted>(model, std::move(data), class_weight);
}

}  // namespace crescent
