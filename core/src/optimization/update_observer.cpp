#include "optimization/update_observer.h"

#include <utility>

namespace crescent {
namespace {

thread_local UpdateObserver* update_observer = nullptr;

}  // namespace

UpdateObserver::UpdateObserver() : outer_observer_(std::exchange(update_observer, this)) {}
UpdateObserver::~UpdateObserver() { update_observer = outer_observer_; }

UpdateObserver* UpdateObserver::current() { return update_observer; }

}  // namespace crescent
