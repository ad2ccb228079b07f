// A plugin is one shared library that registers classes:
//
//   CRESCENT_PLUGIN("acme.scale", "1.0.0") { registry.add<Scale>("Scale"); }
//
// Other sources of the library register their classes by CRESCENT_REGISTER (registration.h).
//
// The macro exports one data object, the stamp (stamp.h), so that the loader can read name,
// versions, compiler and headers from the file before any code of the library runs. setup() fills a
// staging registry; an exception in it refuses the whole plugin. Libraries are never unloaded.
//
// A source file that does not use the macro should include layer.h or training.h instead: every
// change of a public header changes the stamp, so every source file that includes plugin.h is
// compiled again.
#pragma once
#include "crescent/layer/layer.h"
#include "crescent/layer/training.h"
#include "crescent/registry/loader.h"
#include "crescent/registry/option_types.h"
#include "crescent/registry/registration.h"
#include "crescent/registry/registry.h"
#include "crescent/registry/stamp.h"

#define CRESCENT_PLUGIN(plugin_name, plugin_version)                                        \
  static void crescent_plugin_classes(::crescent::Registry& registry);                      \
  static void crescent_plugin_setup(::crescent::Registry& registry) {                       \
    crescent_plugin_classes(registry);                                                      \
    ::crescent::Registration::run_all(registry);                                            \
  }                                                                                         \
  extern "C" __attribute__((visibility("default"), used, section(CRESCENT_PLUGIN_SECTION))) \
  const ::crescent::PluginInfo crescent_plugin = {                                          \
      "crescent-plugin",   sizeof(::crescent::PluginInfo),                                  \
      CRESCENT_PLUGIN_ABI, CRESCENT_HEADERS_HASH,                                           \
      CRESCENT_TOOLCHAIN,  plugin_name,                                                     \
      plugin_version,      &crescent_plugin_setup};                                         \
  static void crescent_plugin_classes([[maybe_unused]] ::crescent::Registry& registry)
