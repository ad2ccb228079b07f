// The stamp of a plugin is plain data in an ELF section of its library, by which the loader judges
// the library before any of its code runs. CRESCENT_PLUGIN (plugin.h) writes it.
#pragma once
#include <cstdint>

// The build generates this header, which defines CRESCENT_HEADERS_HASH: a hash of all declarations
// in public headers, the version in export.h among them. Libraries that were built with other
// declarations may have another layout of any type.
#include "crescent/headers_hash.h"

#define CRESCENT_PLUGIN_ABI 3
#define CRESCENT_PLUGIN_SECTION ".crescent.plugin"

// Compiler flags that change the layout of types, exception handling or arithmetic.
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
#if defined(__cpp_rtti)
#define CRESCENT_RTTI_TEXT "1"
#else
#define CRESCENT_RTTI_TEXT "0"
#endif
#if defined(__cpp_exceptions)
#define CRESCENT_EXCEPTIONS_TEXT "1"
#else
#define CRESCENT_EXCEPTIONS_TEXT "0"
#endif
#if defined(__CHAR_UNSIGNED__)
#define CRESCENT_UNSIGNED_CHAR_TEXT "1"
#else
#define CRESCENT_UNSIGNED_CHAR_TEXT "0"
#endif
#if defined(__FAST_MATH__)
#define CRESCENT_FAST_MATH_TEXT "1"
#else
#define CRESCENT_FAST_MATH_TEXT "0"
#endif
#if defined(_GLIBCXX_DEBUG)
#define CRESCENT_CHECKED_TEXT "1"
#else
#define CRESCENT_CHECKED_TEXT "0"
#endif
#define CRESCENT_TEXT2(x) #x
#define CRESCENT_TEXT(x) CRESCENT_TEXT2(x)
#if defined(__clang__)
#define CRESCENT_COMPILER "clang " CRESCENT_TEXT(__clang_major__)
#else
#define CRESCENT_COMPILER "gcc " CRESCENT_TEXT(__GNUC__)
#endif
#define CRESCENT_TOOLCHAIN                                                              \
  CRESCENT_COMPILER                                                                     \
  "; libstdc++ cxx11=" CRESCENT_TEXT(                                                   \
      _GLIBCXX_USE_CXX11_ABI) "; asan=" CRESCENT_ASAN_TEXT "; tsan=" CRESCENT_TSAN_TEXT \
                              "; rtti=" CRESCENT_RTTI_TEXT                              \
                              "; exceptions=" CRESCENT_EXCEPTIONS_TEXT                  \
                              "; unsigned-char=" CRESCENT_UNSIGNED_CHAR_TEXT            \
                              "; fast-math=" CRESCENT_FAST_MATH_TEXT                    \
                              "; glibcxx-debug=" CRESCENT_CHECKED_TEXT

namespace crescent {

class Registry;

enum SizedLikeInt { sized_like_int };
static_assert(sizeof(SizedLikeInt) == sizeof(int), "Crescent's types need -fno-short-enums");

/// The content of the section CRESCENT_PLUGIN_SECTION; texts are zero-terminated.
struct PluginInfo {
  char magic[16];       ///< "crescent-plugin"
  uint32_t size;        ///< sizeof(PluginInfo)
  uint32_t abi;         ///< CRESCENT_PLUGIN_ABI, which changes with this struct
  uint64_t headers;     ///< CRESCENT_HEADERS_HASH
  char toolchain[160];  ///< CRESCENT_TOOLCHAIN: "gcc 12; libstdc++ cxx11=1; asan=0; ..."
  char name[64];
  char version[32];
  void (*setup)(Registry& registry);
};

}  // namespace crescent
