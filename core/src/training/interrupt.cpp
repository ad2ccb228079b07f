// Ctrl-C: a flag that runs look at after each batch.
#include <atomic>

#include "crescent/model.h"

namespace crescent {
namespace {

std::atomic<bool> pending = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");
thread_local int runs = 0;  // that are going on

}  // namespace

void interrupt() { pending.store(true, std::memory_order_relaxed); }
bool interrupted() { return pending.load(std::memory_order_relaxed); }
void clear_interrupt() { pending.store(false, std::memory_order_relaxed); }

Run::Run() {
  if (runs++ == 0) clear_interrupt();
}
Run::~Run() { --runs; }

}  // namespace crescent
