// Threads where the system may have no more of them.
#pragma once
#include <functional>
#include <thread>

#include "crescent/base/export.h"

namespace crescent {

/// A thread that runs `work`; one that is not joinable where the system starts no more, as beyond a
/// limit of processes. Who asked goes on with those that there are, and without any does the work
/// itself. The first time there is a warning.
[[nodiscard]] CRESCENT_API std::thread start_thread(std::function<void()> work);

}  // namespace crescent
