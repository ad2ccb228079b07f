// A shared library that is not a plugin.
#include <cstdlib>

__attribute__((constructor)) static void run_at_load() { std::abort(); }
extern "C" __attribute__((visibility("default"))) int answer() { return 42; }
