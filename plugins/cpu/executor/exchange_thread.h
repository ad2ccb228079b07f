// ExchangeThread: the thread on which a process exchanges data with other processes while its
// programs compute. It runs one exchange at a time, in the order in which they were begun.
#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "kernel/kernel.h"

namespace crescent::cpu {

class ExchangeThread {
 public:
  /// A kernel that exchanges data, and the names of its op and scope, which are reported as the
  /// activity of the process (activity.h).
  struct Exchange {
    const Kernel* kernel;
    Arguments arguments;
    std::string_view op, scope;
  };
  ExchangeThread() = default;
  ~ExchangeThread();
  ExchangeThread(const ExchangeThread&) = delete;

  /// Lets the thread run the exchange, whose memory must stay until wait() has returned. If the
  /// system refuses the thread, the caller runs the exchange.
  void begin(const Exchange& exchange);
  /// Waits until all exchanges have ended; raises the first error of one of them. After an error
  /// the exchanges begun later do not run.
  void wait();
  /// Like wait(), but ignores errors, for a caller that fails with another error.
  void wait_quietly() noexcept;

 private:
  void work();
  void run(const Exchange& exchange);
  std::exception_ptr first_error();

  std::mutex mutex_;
  std::condition_variable state_changed_;
  std::vector<Exchange> begun_exchanges_;  ///< all exchanges since the last wait()
  size_t ended_count_ = 0;                 ///< how many of them have ended
  std::exception_ptr error_;
  bool is_stopping_ = false;
  std::thread thread_;  ///< started by the first exchange
};

}  // namespace crescent::cpu
