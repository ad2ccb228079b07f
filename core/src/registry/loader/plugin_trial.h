// A plugin is tried before it is loaded: mapped, initialised and set up in a process of its own, so
// that a crash, an exit or an endless loop in it is a refusal.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "crescent/base/export.h"

namespace crescent {

/// What happens to a process that loads the last of these libraries after the others, and ends: "it
/// crashes while it is loaded: SIGSEGV (Segmentation fault)". Empty when it comes through, also
/// when the library refuses itself.
std::string tried(const std::vector<std::string>& libraries);

/// What happens to a copy of this process, as it is now, that does `load`, for example "it crashes
/// in this process: SIGSEGV (Segmentation fault)". Tables can be checked (elf_tables.h), code
/// cannot: damaged code may come through a process of its own and not through this one, because
/// what it does depends on what lies beside it.
std::string rehearsed(const std::function<void()>& load);

/// The other side of tried(), in the process that is put at risk; errors are left to be found
/// again.
CRESCENT_API void load_untried(const std::string& library);

/// Where that process says that all is loaded.
constexpr int kTrialDescriptor = 3;

}  // namespace crescent
