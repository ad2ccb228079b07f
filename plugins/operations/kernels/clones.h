// Macros for functions that are compiled for several instruction sets; the version for the best
// instruction set of the machine is executed.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
/// Defines `name` as a pointer to a function with these parameters. The function is compiled once
/// per instruction set and executes body(arguments).
#define CRESCENT_CLONES(name, body, parameters, arguments)                                         \
  void name##_plain parameters { body arguments; }                                                 \
  __attribute__((target("avx2,fma"))) void name##_avx2 parameters { body arguments; }              \
  __attribute__((target("avx512f"))) void name##_avx512 parameters { body arguments; }             \
  void(*const name) parameters = __builtin_cpu_supports("avx512f") ? name##_avx512                 \
                                 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") \
                                     ? name##_avx2                                                 \
                                     : name##_plain;
#else
#define CRESCENT_CLONES(name, body, parameters, arguments) \
  void name parameters { body arguments; }
#endif
/// For functions that are called by functions from CRESCENT_CLONES: they are inlined, and so
/// compiled for the same instruction set.
#define CRESCENT_IN_CLONES inline __attribute__((always_inline))
