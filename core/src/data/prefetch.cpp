// The dataset of prefetch(), which makes batches ahead on another thread.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "crescent/data/data.h"
#include "crescent/system/interrupt.h"
#include "crescent/system/thread.h"

namespace crescent {
namespace {

size_t bytes_of(const Batch& batch) {
  size_t bytes = 0;
  for (const Tensors* tensors : {&batch.x, &batch.y, &batch.sample_weight})
    for (const Tensor& t : *tensors) bytes += t ? t.bytes() : 0;
  return bytes;
}

/// A ring buffer of batches: the thread fills batches at the end; next() takes the one at the front
/// in exchange for the previous batch, whose memory is then reused.
class PrefetchDataset final : public Dataset {
 public:
  explicit PrefetchDataset(DatasetPtr source)
      : source_(std::move(source)), thread_(start_thread([this] { fill_ring(); })) {}
  ~PrefetchDataset() override {
    {
      const std::lock_guard lock(mutex_);
      state_ = State::quit;
    }
    source_interruption_->request();
    state_changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  int64_t samples() const override { return source_->samples(); }
  int64_t batches() const override { return source_->batches(); }
  void check() const override { source_->check(); }

  void begin_epoch() override {
    begin([this] { source_->begin_epoch(); });
  }

  Value state() const override { return source_state_; }
  void restore(const Value& state, int64_t batches) override {
    begin([&] { source_->restore(state, batches); });
  }

  /// Waits for a batch. A signal does not notify the condition variable, so the wait checks for an
  /// interruption every 20 ms. If the thread could not be started, next() makes the batch itself.
  bool next(Batch& batch) override {
    if (!thread_.joinable()) return state_ == State::making && source_->next(batch);
    constexpr auto kPollInterval = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex_);
    while (!state_changed_.wait_for(lock, kPollInterval,
                                    [this] { return ready_count_ > 0 || state_ == State::ended; }))
      heed_interruption("a batch was made");
    if (ready_count_ == 0) {
      if (std::exception_ptr error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
      return false;
    }
    std::swap(batch, ring_[first_index_]);
    first_index_ = (first_index_ + 1) % ring_.size();
    if (--ready_count_ == refill_threshold()) state_changed_.notify_all();
    return true;
  }

 protected:
  DatasetPtr own_shard(int64_t index, int64_t count) override {
    return prefetch(shard(source_, index, count));
  }

 private:
  enum class State { ended, making, quit };

  /// Interrupts the thread's call of the source, waits for the end of this call, and runs
  /// `begin_source`, which begins an epoch of the source. Then the thread continues with the new
  /// epoch.
  template <class F>
  void begin(F begin_source) {
    std::unique_lock lock(mutex_);
    state_ = State::ended;
    source_interruption_->request();
    state_changed_.wait(lock, [this] { return !is_calling_source_; });
    source_interruption_->clear();
    ready_count_ = 0;
    error_ = nullptr;
    begin_source();
    source_state_ = source_->state();
    state_ = State::making;
    state_changed_.notify_all();
  }

  /// The number of batches at which the thread wakes up: half of the ring, so that small batches do
  /// not wake it every time.
  size_t refill_threshold() const { return max_ready_count_ / 2; }

  void fill_ring() {
    std::unique_lock lock(mutex_);
    for (;;) {
      state_changed_.wait(lock, [this] {
        return state_ == State::quit ||
               (state_ == State::making && ready_count_ <= refill_threshold());
      });
      while (state_ == State::making && ready_count_ < max_ready_count_) make_batch(lock);
      if (state_ == State::quit) return;
    }
  }

  void make_batch(std::unique_lock<std::mutex>& lock) {
    Batch& batch = ring_[(first_index_ + ready_count_) % ring_.size()];
    is_calling_source_ = true;
    const InheritInterrupt inherit_interrupt(source_interruption_);
    lock.unlock();
    bool is_made = false;
    std::exception_ptr error;
    try {
      is_made = source_->next(batch);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    is_calling_source_ = false;
    if (is_made) {
      ++ready_count_;
      max_ready_count_ =
          std::clamp(kMaxBytes / std::max<size_t>(bytes_of(batch), 1), size_t{2}, ring_.size());
    } else if (state_ == State::making) {
      state_ = State::ended;
      error_ = error;
    }
    state_changed_.notify_all();
  }

  static constexpr size_t kMaxBytes = size_t{2} << 20;
  DatasetPtr source_;
  Value source_state_;  // the state of the source, which is constant during an epoch
  // the flag by which begin() interrupts the thread's call of the source
  std::shared_ptr<Interruption> source_interruption_ = std::make_shared<Interruption>();
  std::mutex mutex_;
  std::condition_variable state_changed_;
  // The state of the current epoch. State::ended means that the source has no more batches, or that
  // no epoch has begun.
  State state_ = State::ended;
  bool is_calling_source_ = false;  // whether the thread is in a call of the source
  std::array<Batch, 32> ring_;
  size_t first_index_ = 0, ready_count_ = 0, max_ready_count_ = 2;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace

DatasetPtr prefetch(DatasetPtr source) {
  return std::make_shared<PrefetchDataset>(std::move(source));
}

}  // namespace crescent
