// The stamp of a plugin: what its file says before any code of it runs. Plain data in an ELF
// section of its own; CRESCENT_PLUGIN (plugin.h) writes it, the loader reads it.
#pragma once
#include <cstdint>

// Made by the build: CRESCENT_HEADERS_HASH, a hash of all public headers. Among them is export.h
// with the version. Libraries that were built with other headers may disagree about any type.
#include "crescent/headers_hash.h"

#define CRESCENT_PLUGIN_ABI 1
#define CRESCENT_PLUGIN_SECTION ".crescent.plugin"

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
#define CRESCENT_TOOLCHAIN                                                                \
  CRESCENT_COMPILER                                                                       \
  "; libstdc++ cxx11=" CRESCENT_TEXT(_GLIBCXX_USE_CXX11_ABI) "; asan=" CRESCENT_ASAN_TEXT \
                                                             " tsan=" CRESCENT_TSAN_TEXT

namespace crescent {

class Registry;

/// Texts are zero-terminated.
struct PluginInfo {
  char magic[16];      ///< "crescent-plugin"
  uint32_t size;       ///< sizeof(PluginInfo)
  uint32_t abi;        ///< CRESCENT_PLUGIN_ABI: changes with this struct
  uint64_t headers;    ///< CRESCENT_HEADERS_HASH
  char toolchain[64];  ///< CRESCENT_TOOLCHAIN: "gcc 12; libstdc++ cxx11=1; asan=0 tsan=0"
  char name[64];
  char version[32];
  void (*setup)(Registry& registry);
};

}  // namespace crescent
