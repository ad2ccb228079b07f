#include "executor/exchange_thread.h"

#include <utility>

#include "crescent/program/activity.h"
#include "crescent/system/thread.h"
#include "threads/flush_denormals.h"

namespace crescent::cpu {

ExchangeThread::~ExchangeThread() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  state_changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ExchangeThread::begin(const Exchange& exchange) {
  if (!thread_.joinable()) thread_ = start_thread([this] { work(); });
  if (!thread_.joinable()) return exchange.kernel->run(exchange.arguments);
  {
    const std::lock_guard lock(mutex_);
    begun_exchanges_.push_back(exchange);
  }
  state_changed_.notify_all();
}

void ExchangeThread::wait() {
  if (const std::exception_ptr error = first_error()) std::rethrow_exception(error);
}

void ExchangeThread::wait_quietly() noexcept { first_error(); }

std::exception_ptr ExchangeThread::first_error() {
  std::unique_lock lock(mutex_);
  state_changed_.wait(lock, [&] { return ended_count_ == begun_exchanges_.size(); });
  begun_exchanges_.clear();
  ended_count_ = 0;
  return std::exchange(error_, nullptr);
}

void ExchangeThread::work() {
  const FlushDenormals flush;
  std::unique_lock lock(mutex_);
  for (;;) {
    state_changed_.wait(lock,
                        [&] { return is_stopping_ || ended_count_ < begun_exchanges_.size(); });
    if (is_stopping_) return;
    const Exchange next_exchange = begun_exchanges_[ended_count_];
    const bool is_skipped = error_ != nullptr;
    lock.unlock();
    std::exception_ptr error;
    if (!is_skipped) try {
        run(next_exchange);
      } catch (...) {
        error = std::current_exception();
      }
    lock.lock();
    if (error) error_ = error;
    if (++ended_count_ == begun_exchanges_.size()) state_changed_.notify_all();
  }
}

void ExchangeThread::run(const Exchange& exchange) {
  if (is_tracking_activity()) enter_instruction(exchange.op, exchange.scope);
  exchange.kernel->run(exchange.arguments);
}

}  // namespace crescent::cpu
