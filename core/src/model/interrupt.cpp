// Ctrl-C: a flag that runs look at after each batch.
#include <atomic>

#include "crescent/model.h"

namespace crescent {
namespace {

std::atomic<bool> pending = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

}  // namespace

void interrupt() { pending.store(true, std::memory_order_relaxed); }
bool interrupted() { return pending.load(std::memory_order_relaxed); }
void clear_interrupt() { pending.store(false, std::memory_order_relaxed); }

}  // namespace crescent
