// Interruption: how work that takes long is asked to stop, by Ctrl-C for example. A request goes to
// the runs of one thread: fit, evaluate, predict, reading a file. A running fit stops after the
// current batch and returns the history of the whole epochs; the others throw Interrupted. The
// model keeps what it learned.
#pragma once
#include <atomic>
#include <memory>
#include <string_view>

#include "crescent/base/export.h"

namespace crescent {

/// What the runs of a thread are asked through.
class CRESCENT_API Interruption {
 public:
  /// Async-signal-safe, from any thread: the runs stop as soon as they can.
  void request() { pending_.store(true, std::memory_order_relaxed); }
  bool pending() const { return pending_.load(std::memory_order_relaxed); }
  void clear() { pending_.store(false, std::memory_order_relaxed); }
  /// Of the calling thread.
  static const std::shared_ptr<Interruption>& current();

 private:
  std::atomic<bool> pending_ = false;
  static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers set it");
};

// Of the calling thread, which in a signal handler is the thread that the signal interrupted.
inline void interrupt() { Interruption::current()->request(); }
inline bool interrupted() { return Interruption::current()->pending(); }
inline void clear_interrupt() { Interruption::current()->clear(); }
/// For loops that may be long: throws Interrupted when the runs of this thread are to stop. `doing`
/// goes on with "interrupted while ": "elements of a dataset were made".
CRESCENT_API void heed_interruption(std::string_view doing);

/// Fit, evaluate, predict and loading make one; so does who calls several of them, or prepares
/// data, as one run. What is pending when the outermost of a thread begins is forgotten, and those
/// inside leave an interruption to it.
class CRESCENT_API InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
};

/// While it lives, the calling thread works for the runs of another: it is interrupted with them.
class CRESCENT_API InheritInterrupt {
 public:
  explicit InheritInterrupt(std::shared_ptr<Interruption> runs);
  ~InheritInterrupt();
  InheritInterrupt(const InheritInterrupt&) = delete;

 private:
  std::shared_ptr<Interruption> own_;
};

}  // namespace crescent
