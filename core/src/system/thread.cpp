#include "crescent/system/thread.h"

#include <atomic>
#include <system_error>

#include "crescent/base/error.h"

namespace crescent {

std::thread start_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    static std::atomic<bool> has_warned{false};
    if (!has_warned.exchange(true))
      warn("the system starts no more threads (", error.what(), "): work goes on with fewer");
    return {};
  }
}

}  // namespace crescent
