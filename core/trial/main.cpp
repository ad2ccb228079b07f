// crescent-try LIBRARY...: loads the libraries one after the other; loading the last one may crash
// this process. crescent-try --each LIBRARY...: tries each one in a fork. libcrescent starts this
// program.
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>

#include "registry/trial/trial_server.h"

int main(int argc, char** argv) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<std::string> libraries(argv + 1, argv + argc);
  if (libraries.empty() || libraries.front() != crescent::kTryEach)
    return crescent::run_trial(libraries);
  libraries.erase(libraries.begin());
  return crescent::serve_trials(libraries);
}
