// The trial of a plugin: it is mapped, initialized and set up in another process first, so a plugin
// that crashes, exits or never ends is refused.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "crescent/base/export.h"

namespace crescent {

/// Loads these libraries in order in another process. Returns the failure that the last one causes:
/// "it crashes while it is loaded: SIGSEGV (Segmentation fault)"; empty if the process ends
/// normally, also if the setup of the library throws.
std::string failure_in_trial(const std::vector<std::string>& libraries);

/// Runs `load` in a copy of this process. Returns the failure, for example "it crashes in this
/// process: SIGSEGV (Segmentation fault)", or empty. Damaged code cannot be found by checks as
/// damaged tables can (elf_tables.h), and it may fail in this process but not in another, because
/// it may read memory beside the library.
std::string failure_in_copy(const std::function<void()>& load);

/// Loads a library in the process that failure_in_trial() starts; its errors are ignored, since
/// loading it for good would raise them again.
CRESCENT_API void load_untried(const std::string& library);

/// The descriptor on which that process reports that all libraries are loaded.
constexpr int kTrialDescriptor = 3;

}  // namespace crescent
