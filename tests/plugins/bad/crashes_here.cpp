#include <errno.h>

#include <cstdlib>
#include <string_view>

#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.here", "1.0.0") {
  registry.add<Sample>("CrashesHere");
  if (program_invocation_short_name != std::string_view("crescent-try")) std::abort();
}
