// Datasets: the interface, and batches that a function makes.
#include "crescent/data.h"

namespace crescent {

Dataset::~Dataset() = default;

namespace {

class GeneratorDataset final : public Dataset {
 public:
  GeneratorDataset(std::function<bool(Batch&)> produce, int64_t batches)
      : produce_(std::move(produce)), batches_(batches) {}
  int64_t batches() const override { return batches_; }
  void begin_epoch() override { done_ = 0; }
  bool next(Batch& batch) override {
    if (batches_ >= 0 && done_ == batches_) return false;
    if (!produce_(batch)) return false;
    ++done_;
    return true;
  }

 private:
  std::function<bool(Batch&)> produce_;
  int64_t batches_, done_ = 0;
};

}  // namespace

DatasetPtr generator_dataset(std::function<bool(Batch&)> produce, int64_t batches) {
  return std::make_shared<GeneratorDataset>(std::move(produce), batches);
}

}  // namespace crescent
