#include "crescent/system/interrupt.h"

#include <utility>

#include "crescent/base/error.h"
#include "system/operation.h"

namespace crescent {
namespace {

thread_local int scope_count = 0;       // number of living InterruptScopes
thread_local int line_owner_count = 0;  // number of operations that own the line of the terminal

std::shared_ptr<Interruption>& thread_interruption() {
  thread_local std::shared_ptr<Interruption> interruption = std::make_shared<Interruption>();
  return interruption;
}

}  // namespace

const std::shared_ptr<Interruption>& Interruption::current() { return thread_interruption(); }

void heed_interruption(std::string_view doing) {
  if (interrupted()) throw Interrupted(concat("interrupted while ", doing));
}

InterruptScope::InterruptScope() {
  if (scope_count++ == 0) clear_interrupt();
}
InterruptScope::~InterruptScope() { --scope_count; }

bool owns_line() { return line_owner_count > 0; }
void take_line() { ++line_owner_count; }
void give_line_back() { --line_owner_count; }

InheritInterrupt::InheritInterrupt(std::shared_ptr<Interruption> runs)
    : own_(std::exchange(thread_interruption(), std::move(runs))) {}
InheritInterrupt::~InheritInterrupt() { thread_interruption() = std::move(own_); }

}  // namespace crescent
