// A library whose constructor changes state of the whole process: rounding mode, signal handlers,
// locale.
#include <cfenv>
#include <clocale>
#include <csignal>

#include "crescent/plugin.h"

namespace {

const bool changed = [] {
  std::fesetround(FE_UPWARD);
  std::signal(SIGUSR2, [](int) {});
  std::setlocale(LC_NUMERIC, "C.UTF-8");
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigprocmask(SIG_BLOCK, &one, nullptr);
  return true;
}();

}  // namespace

CRESCENT_PLUGIN("modes", "1.0.0") { (void)registry; }
