// Starts threads on systems that may refuse to start more of them.
#pragma once
#include <functional>
#include <thread>

#include "crescent/base/export.h"

namespace crescent {

/// Starts a thread that runs `work`. If the system refuses, for example because of a limit of
/// processes, the result is not joinable; the caller must then do with fewer threads, or run `work`
/// itself. The first refusal prints a warning.
[[nodiscard]] CRESCENT_API std::thread start_thread(std::function<void()> work);

}  // namespace crescent
