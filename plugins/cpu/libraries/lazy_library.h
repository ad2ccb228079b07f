// Shared libraries that are loaded when one of their functions is first called. Loading oneDNN and
// OpenBLAS takes longer than everything else that a script needs before its first tensor, and many
// scripts call neither.
#pragma once
#include <cstddef>
#include <string>

namespace crescent::cpu {

class LazyLibrary {
 public:
  /// `path` is the path that the library had when Crescent was built; if there is no such file, the
  /// dynamic linker searches for the file name.
  explicit LazyLibrary(std::string path);
  /// Whether the library could be loaded.
  bool is_available() const { return handle_; }
  /// The address of a function; fails if the library or the function is missing.
  void* find(const char* function) const;

 private:
  std::string path_, reason_;
  void* handle_ = nullptr;
};

/// The name of a function as a template argument.
template <size_t Size>
struct FunctionName {
  consteval FunctionName(const char (&characters)[Size]) {
    for (size_t i = 0; i < Size; ++i) text[i] = characters[i];
  }
  char text[Size];
};

/// The function of a lazily loaded library, which is looked up in the first call.
template <FunctionName kName, class Function>
Function lazy_function(const LazyLibrary& (*library)()) {
  static const auto function = reinterpret_cast<Function>(library().find(kName.text));
  return function;
}

/// The function `name`, which a C header declares, of the library that `library()` returns. It
/// serves to define `name` as a macro, so that code calls the function by its name.
#define CRESCENT_LAZY_FUNCTION(library, name) \
  ::crescent::cpu::lazy_function<#name, decltype(&::name)>(::crescent::cpu::library)

}  // namespace crescent::cpu
