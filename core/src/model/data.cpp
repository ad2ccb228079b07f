// Datasets: arrays in memory, generators, and a thread that works ahead.
#include "crescent/data.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>

#include "model/array_dataset.h"

namespace crescent {

Dataset::~Dataset() = default;

namespace {

/// Rows of arrays; gathered into two sets of buffers in turn when the order is drawn.
class ArrayDataset final : public Dataset {
 public:
  ArrayDataset(Arrays arrays, int64_t batch_size, Shuffle shuffle, const SeedGenerator* order)
      : arrays_(std::move(arrays)), batch_size_(batch_size), shuffle_(shuffle), order_(order), samples_(arrays_.samples()) {}

  int64_t samples() const override { return samples_; }
  int64_t batches() const override { return 1 + (samples_ - 1) / batch_size_; }
  void begin_epoch() override {
    at_ = 0;
    if (shuffle_ == Shuffle::samples) rows_ = order_->permutation(samples_);
    if (shuffle_ == Shuffle::batches) rows_ = order_->permutation(samples_ / batch_size_);
  }

  bool next(Batch& batch) override {
    if (at_ >= batches()) return false;
    const int64_t first = at_ * batch_size_;
    const int64_t count = std::min(batch_size_, samples_ - first);
    const bool whole = count == batch_size_;
    ++at_;
    turn_ = !turn_;
    const int64_t start = shuffle_ == Shuffle::batches && whole ? rows_[static_cast<size_t>(first / batch_size_)] * batch_size_ : first;
    fill(arrays_.x, batch.x, buffers_[turn_].x, start, count);
    fill(arrays_.y, batch.y, buffers_[turn_].y, start, count);
    fill(arrays_.weights, batch.sample_weight, buffers_[turn_].sample_weight, start, count);
    return true;
  }

 private:
  void fill(const Tensors& from, Tensors& to, Tensors& buffers, int64_t first, int64_t count) {
    to.resize(from.size());
    buffers.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) {
      if (!from[i]) to[i] = Tensor();
      else if (shuffle_ != Shuffle::samples) to[i] = count == samples_ ? from[i] : from[i].view_rows(first, count);
      else to[i] = gather(from[i], buffers[i], first, count);
    }
  }

  Tensor gather(const Tensor& from, Tensor& buffer, int64_t first, int64_t count) const {
    if (!buffer) {
      Shape shape = from.shape();
      shape.set(0, std::min(batch_size_, samples_));
      buffer = Tensor(shape, from.dtype());
    }
    const size_t row = from.bytes() / static_cast<size_t>(samples_);
    const auto* source = static_cast<const std::byte*>(from.raw());
    auto* target = static_cast<std::byte*>(buffer.mutable_raw());
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(target + static_cast<size_t>(i) * row, source + static_cast<size_t>(rows_[static_cast<size_t>(first + i)]) * row, row);
    return count == buffer.dim(0) ? buffer : buffer.view_rows(0, count);
  }

  Arrays arrays_;
  int64_t batch_size_;
  Shuffle shuffle_;
  const SeedGenerator* order_;
  int64_t samples_, at_ = 0;
  std::vector<int64_t> rows_;
  Batch buffers_[2];
  bool turn_ = false;
};

class GeneratorDataset final : public Dataset {
 public:
  GeneratorDataset(std::function<bool(Batch&)> produce, int64_t batches) : produce_(std::move(produce)), batches_(batches) {}
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

/// Asks its source for the next batch while this one is used: batch k is in use, k+1 waits or is being made.
class Prefetch final : public Dataset {
 public:
  explicit Prefetch(DatasetPtr source) : source_(std::move(source)), thread_([this] { work(); }) {}
  ~Prefetch() override {
    {
      const std::lock_guard lock(mutex_);
      task_ = Task::quit;
    }
    changed_.notify_all();
    thread_.join();
  }
  int64_t samples() const override { return source_->samples(); }
  int64_t batches() const override { return source_->batches(); }
  void begin_epoch() override {
    std::unique_lock lock(mutex_);
    wait(lock);
    error_ = nullptr;
    source_->begin_epoch();
    ask();
  }
  bool next(Batch& batch) override {
    std::unique_lock lock(mutex_);
    wait(lock);
    if (std::exception_ptr error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
    if (!has_batch_) return false;
    batch = std::move(made_);
    ask();
    return true;
  }

 private:
  enum class Task { none, make, quit };
  void ask() {
    task_ = Task::make;
    changed_.notify_all();
  }
  void wait(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [this] { return task_ == Task::none; });
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return task_ != Task::none; });
      if (task_ == Task::quit) return;
      lock.unlock();
      bool has_batch = false;
      std::exception_ptr error;
      Batch batch;
      try {
        has_batch = source_->next(batch);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      made_ = std::move(batch);
      has_batch_ = has_batch;
      error_ = error;
      if (task_ == Task::quit) return;
      task_ = Task::none;
      changed_.notify_all();
    }
  }

  DatasetPtr source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Task task_ = Task::none;
  Batch made_;
  bool has_batch_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace

DatasetPtr make_array_dataset(Arrays arrays, int64_t batch_size, Shuffle shuffle, const SeedGenerator* order) {
  return std::make_shared<ArrayDataset>(std::move(arrays), batch_size, shuffle, order);
}

DatasetPtr array_dataset(Tensors x, Tensors y, Tensors sample_weight, const ArrayOptions& options) {
  Arrays arrays{std::move(x), std::move(y), std::move(sample_weight)};
  if (arrays.x.empty()) fail("array_dataset: expected at least one input array");
  for (const Tensors* group : {&arrays.x, &arrays.y, &arrays.weights})
    for (const Tensor& t : *group)
      if (t && (t.rank() == 0 || t.dim(0) != arrays.samples()))
        fail("array_dataset: expected ", arrays.samples(), " samples in each array, got shape ", t.shape());
  if (arrays.samples() == 0) fail("array_dataset: expected at least one sample");
  if (options.batch_size < 1) fail("array_dataset: batch_size must be at least 1, got ", options.batch_size);
  if (options.shuffle && !options.order) fail("array_dataset: shuffling needs a generator that draws the order");
  return make_array_dataset(std::move(arrays), options.batch_size, options.shuffle ? Shuffle::samples : Shuffle::none, options.order);
}

DatasetPtr generator_dataset(std::function<bool(Batch&)> produce, int64_t batches) {
  return std::make_shared<GeneratorDataset>(std::move(produce), batches);
}

DatasetPtr prefetch(DatasetPtr source) { return std::make_shared<Prefetch>(std::move(source)); }

}  // namespace crescent
