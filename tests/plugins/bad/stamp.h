// A plugin stamp that can be wrong in one field, and a constructor that ends the process, because
// no code of a refused library may run.
#pragma once
#include <cstdlib>

#include "crescent/plugin.h"

#define BAD_STAMP(magic, abi, headers, toolchain)                                               \
  static void setup(::crescent::Registry&) { std::abort(); }                                    \
  extern "C"                                                                                    \
      __attribute__((visibility("default"), used, section(CRESCENT_PLUGIN_SECTION)))            \
      const ::crescent::PluginInfo crescent_plugin = {                                          \
          magic, sizeof(::crescent::PluginInfo), abi, headers, toolchain, "bad.stamp", "1.0.0", \
          &setup};                                                                              \
  __attribute__((constructor)) static void run_at_load() { std::abort(); }
