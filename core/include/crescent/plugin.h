// A plugin is one shared library that registers classes:
//
//   CRESCENT_PLUGIN("acme.scale", "1.0.0") { registry.add<Scale>("Scale"); }
//
// The macro exports one data object in the ELF section ".crescent.plugin", so that the loader can
// read name, versions, compiler and layout of the public types from the file before any code of the
// library runs. setup() fills a staging registry; an exception in it refuses the whole plugin.
// Libraries are never unloaded.
#pragma once
#include <cstdint>

#include "crescent/layer.h"
#include "crescent/loader.h"
#include "crescent/registry.h"
#include "crescent/training.h"

namespace crescent {

/// Hash of the sizes of the public types that cross the boundary.
constexpr uint64_t plugin_layout() {
  constexpr size_t sizes[] = {
      sizeof(Value),        sizeof(Dict),     sizeof(Field),     sizeof(ClassInfo),
      sizeof(Configurable), sizeof(Registry), sizeof(Shape),     sizeof(Tensor),
      sizeof(Variable),     sizeof(Layer),    sizeof(Symbol),    sizeof(InputSpec),
      sizeof(Loss),         sizeof(Metric),   sizeof(Optimizer), sizeof(Call)};
  uint64_t hash = 14695981039346656037ull;
  for (size_t size : sizes) hash = (hash ^ size) * 1099511628211ull;
  return hash;
}

}  // namespace crescent

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
#define CRESCENT_TOOLCHAIN                                                                    \
  CRESCENT_COMPILER                                                                           \
      "; libstdc++ cxx11=" CRESCENT_TEXT(_GLIBCXX_USE_CXX11_ABI) "; asan=" CRESCENT_ASAN_TEXT \
                                                                 " tsan=" CRESCENT_TSAN_TEXT

#define CRESCENT_PLUGIN(plugin_name, plugin_version)                                        \
  static void crescent_plugin_setup(::crescent::Registry& registry);                        \
  extern "C" __attribute__((visibility("default"), used, section(CRESCENT_PLUGIN_SECTION))) \
  const ::crescent::PluginInfo crescent_plugin = {                                          \
      "crescent-plugin",   sizeof(::crescent::PluginInfo),                                  \
      CRESCENT_PLUGIN_ABI, ::crescent::plugin_layout(),                                     \
      CRESCENT_TOOLCHAIN,  plugin_name,                                                     \
      plugin_version,      &crescent_plugin_setup};                                         \
  static void crescent_plugin_setup([[maybe_unused]] ::crescent::Registry& registry)
