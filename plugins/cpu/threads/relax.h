// relax(): the pause of a thread that spins on memory which another thread will write.
#pragma once

namespace crescent::cpu {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace crescent::cpu
