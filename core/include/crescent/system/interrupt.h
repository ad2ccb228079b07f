// Interruption: how a long operation is asked to stop, by Ctrl-C for example. A request concerns
// the operations of one thread: fit, evaluate, predict, reading a file. A running fit stops after
// the current batch and returns the history of the completed epochs; the others throw Interrupted.
// The model keeps what it has learned.
#pragma once
#include <atomic>
#include <memory>
#include <string_view>

#include "crescent/base/export.h"

namespace crescent {

/// The flag that asks the operations of a thread to stop.
class CRESCENT_API Interruption {
 public:
  /// Asks the operations to stop as soon as they can. Async-signal-safe; any thread may call it.
  void request() { pending_.store(true, std::memory_order_relaxed); }
  bool pending() const { return pending_.load(std::memory_order_relaxed); }
  void clear() { pending_.store(false, std::memory_order_relaxed); }
  /// The Interruption of the calling thread.
  static const std::shared_ptr<Interruption>& current();

 private:
  std::atomic<bool> pending_ = false;
  static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers set it");
};

// The following functions concern the calling thread; in a signal handler that is the thread that
// received the signal.
inline void interrupt() { Interruption::current()->request(); }
inline bool interrupted() { return Interruption::current()->pending(); }
inline void clear_interrupt() { Interruption::current()->clear(); }
/// Throws Interrupted if this thread was asked to stop. Loops that may take long call this
/// function. The message is "interrupted while " followed by `doing`, such as "elements of a
/// dataset were made".
CRESCENT_API void heed_interruption(std::string_view doing);

/// The extent of one interruptible operation. Fit, evaluate, predict and loading open a scope; a
/// caller that does several of these, or prepares data, as one operation opens a scope around them.
/// The outermost scope of a thread clears a pending request when it begins; inner scopes do not.
class CRESCENT_API InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
};

/// While an object of this class lives, the calling thread shares the Interruption of another
/// thread, for which it works.
class CRESCENT_API InheritInterrupt {
 public:
  explicit InheritInterrupt(std::shared_ptr<Interruption> runs);
  ~InheritInterrupt();
  InheritInterrupt(const InheritInterrupt&) = delete;

 private:
  std::shared_ptr<Interruption> own_;
};

}  // namespace crescent
