#include "libraries/lazy_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <utility>

#include "crescent/base/error.h"

namespace crescent::cpu {

LazyLibrary::LazyLibrary(std::string path) : path_(std::move(path)) {
  const std::string file = std::filesystem::path(path_).filename();
  for (const std::string& candidate : {path_, file})
    if (!handle_) handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) return;
  const char* reason = dlerror();
  reason_ = reason ? reason : "unknown reason";
}

void* LazyLibrary::find(const char* function) const {
  if (!handle_) fail("the library ", path_, " cannot be loaded: ", reason_);
  void* address = dlsym(handle_, function);
  if (!address) fail("the library ", path_, " has no function '", function, "'");
  return address;
}

}  // namespace crescent::cpu
