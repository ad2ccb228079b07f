// A plugin with its own thread, thread-local objects and static objects.
#include <atomic>
#include <thread>

#include "sample.h"

namespace {

struct OfThread {
  int touched = 0;
  ~OfThread() { touched = -1; }
};
thread_local OfThread of_thread;

struct Ticking {
  std::atomic<bool> ends = false;
  std::thread thread{[this] {
    while (!ends) ++of_thread.touched, std::this_thread::yield();
  }};
  ~Ticking() { ends = true, thread.join(); }
};

}  // namespace

CRESCENT_PLUGIN("lives_on", "1.0.0") {
  static Ticking ticking;
  ++of_thread.touched;
  registry.add<Sample>("LivesOn");
}
