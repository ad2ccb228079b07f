// crescent-try LIBRARY...: loads plugins one after the other, the last of which may crash this
// process. libcrescent starts this program.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "registry/loader/plugin_trial.h"

int main(int argc, char** argv) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string report;
  for (int i = 1; i < argc; ++i) report = crescent::load_untried(argv[i]);
  const ssize_t written = write(crescent::kTrialDescriptor, report.data(), report.size());
  return written == static_cast<ssize_t>(report.size()) ? 0 : 1;
}
