// A plugin with its own thread, thread-local objects and static objects.
#include <atomic>
#include <thread>

#include "sample.h"

namespace {

struct ThreadLocalObject {
  int touched = 0;
  ~ThreadLocalObject() { touched = -1; }
};
thread_local ThreadLocalObject thread_local_object;

struct BackgroundThread {
  std::atomic<bool> ends = false;
  std::thread thread{[this] {
    while (!ends) ++thread_local_object.touched, std::this_thread::yield();
  }};
  ~BackgroundThread() { ends = true, thread.join(); }
};

}  // namespace

CRESCENT_PLUGIN("lives_on", "1.0.0") {
  static BackgroundThread background_thread;
  ++thread_local_object.touched;
  registry.add<Sample>("LivesOn");
}
