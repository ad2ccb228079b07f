// A plugin is one shared library that registers classes:
//
//   CRESCENT_PLUGIN("acme.scale", "1.0.0") { registry.add<Scale>("Scale"); }
//
// The macro exports one data object in the ELF section ".crescent.plugin", so that the loader can read name, versions,
// compiler and layout of the public types from the file before any code of the library runs. setup() fills a
// staging registry; an exception in it refuses the whole plugin. Libraries are never unloaded.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "crescent/layer.h"
#include "crescent/registry.h"
#include "crescent/training.h"

#define CRESCENT_PLUGIN_ABI 1

namespace crescent {

/// Plain data, read from the file without loading it. Texts are zero-terminated.
struct PluginInfo {
  char magic[16];             ///< "crescent-plugin"
  uint32_t size;              ///< sizeof(PluginInfo)
  uint32_t abi;               ///< CRESCENT_PLUGIN_ABI
  uint64_t layout;            ///< plugin_layout()
  char toolchain[64];         ///< "gcc 12; libstdc++ cxx11=1; asan=0 tsan=0"
  char name[64];
  char version[32];
  void (*setup)(Registry& registry);
};

/// Hash of the sizes of the public types that cross the boundary.
constexpr uint64_t plugin_layout() {
  constexpr size_t sizes[] = {sizeof(Value),    sizeof(Dict),     sizeof(Field),  sizeof(ClassInfo), sizeof(Configurable),
                              sizeof(Registry), sizeof(Shape),    sizeof(Tensor), sizeof(Variable),  sizeof(Layer),
                              sizeof(Symbol),   sizeof(InputSpec), sizeof(Loss),  sizeof(Metric),    sizeof(Optimizer),
                              sizeof(Call)};
  uint64_t hash = 14695981039346656037ull;
  for (size_t size : sizes) hash = (hash ^ size) * 1099511628211ull;
  return hash;
}

#if defined(__SANITIZE_ADDRESS__)
#define CRESCENT_ASAN_TEXT "1"
#else
#define CRESCENT_ASAN_TEXT "0"
#endif
#if defined(__SANITIZE_THREAD__)
#define CRESCENT_TSAN_TEXT "1"
#else
#define CRESCENT_TSAN_TEXT "0"
#endif
#define CRESCENT_TEXT2(x) #x
#define CRESCENT_TEXT(x) CRESCENT_TEXT2(x)
#if defined(__clang__)
#define CRESCENT_COMPILER "clang " CRESCENT_TEXT(__clang_major__)
#else
#define CRESCENT_COMPILER "gcc " CRESCENT_TEXT(__GNUC__)
#endif
#define CRESCENT_TOOLCHAIN                                                                        \
  CRESCENT_COMPILER "; libstdc++ cxx11=" CRESCENT_TEXT(_GLIBCXX_USE_CXX11_ABI) "; asan=" CRESCENT_ASAN_TEXT \
                    " tsan=" CRESCENT_TSAN_TEXT

#define CRESCENT_PLUGIN(plugin_name, plugin_version)                                                        \
  static void crescent_plugin_setup(::crescent::Registry& registry);                                        \
  extern "C" __attribute__((visibility("default"), used, section(".crescent.plugin")))                       \
  const ::crescent::PluginInfo crescent_plugin = {                                                          \
      "crescent-plugin",     sizeof(::crescent::PluginInfo), CRESCENT_PLUGIN_ABI, ::crescent::plugin_layout(), \
      CRESCENT_TOOLCHAIN,    plugin_name,                    plugin_version,      &crescent_plugin_setup};  \
  static void crescent_plugin_setup([[maybe_unused]] ::crescent::Registry& registry)

/// What a loaded or refused plugin is, for listings.
struct PluginRecord {
  std::string name, version, path;
  std::string refused;                  ///< why, empty when loaded or loadable
  bool loaded = false;
  std::vector<std::pair<std::string, std::string>> classes;   ///< (kind, class name), known from the index or after loading
};

/// Loads one library by path. Fails (nothing registered) with both sides named and the rebuild command.
CRESCENT_API PluginRecord load_plugin(const std::string& path);
/// Loads by plugin name ("acme.scale") along the search path; the error lists what was tried.
CRESCENT_API PluginRecord load_plugin_by_name(const std::string& name);
/// $CRESCENT_PLUGIN_PATH, the user's directory, the installed one; directories others may write are left out.
CRESCENT_API std::vector<std::string> plugin_search_path();
/// Loaded, indexed and refused plugins of this process; reads stamps of files on the search path, runs none of them.
CRESCENT_API std::vector<PluginRecord> list_plugins();
/// Loads every library of `directory` and writes its index.json (type name -> library); used by the build.
CRESCENT_API void write_plugin_index(const std::string& directory);

}  // namespace crescent
