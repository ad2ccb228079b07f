// A library whose constructor changes state of the whole process: rounding mode, signal handlers,
// locale.
#include <cfenv>
#include <clocale>
#include <csignal>

#include "crescent/plugin.h"

namespace {

const bool modes_changed = [] {
  std::fesetround(FE_UPWARD);
  std::signal(SIGUSR2, [](int) {});
  std::setlocale(LC_NUMERIC, "C.UTF-8");
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return true;
}();

}  // namespace

CRESCENT_PLUGIN("modes", "1.0.0") { (void)registry; }
