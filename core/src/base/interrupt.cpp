#include "crescent/system/interrupt.h"

#include <utility>

#include "base/operation.h"
#include "crescent/base/error.h"

namespace crescent {
namespace {

thread_local int scopes = 0;  // number of living InterruptScopes

std::shared_ptr<Interruption>& of_this_thread() {
  thread_local std::shared_ptr<Interruption> interruption = std::make_shared<Interruption>();
  return interruption;
}

}  // namespace

const std::shared_ptr<Interruption>& Interruption::current() { return of_this_thread(); }

void heed_interruption(std::string_view doing) {
  if (interrupted()) throw Interrupted(concat("interrupted while ", doing));
}

InterruptScope::InterruptScope() {
  if (scopes++ == 0) clear_interrupt();
}
InterruptScope::~InterruptScope() { --scopes; }

bool within_operation() { return scopes > 0; }

InheritInterrupt::InheritInterrupt(std::shared_ptr<Interruption> runs)
    : own_(std::exchange(of_this_thread(), std::move(runs))) {}
InheritInterrupt::~InheritInterrupt() { of_this_thread() = std::move(own_); }

}  // namespace crescent
