// FlushDenormals: floating-point results below the smallest normal number become 0. Arithmetic on
// denormal numbers is up to a hundred times slower, and an optimizer's moments decay to such
// numbers once gradients are small.
#pragma once
#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace crescent::cpu {

/// During the lifetime of this object, denormal results of the calling thread become 0.
class FlushDenormals {
 public:
  FlushDenormals() : previous_control_word_(read_control_word()) {
    set_control_word(previous_control_word_ | kFlush);
  }
  ~FlushDenormals() { set_control_word(previous_control_word_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kFlush = 0x8000;
  static unsigned read_control_word() { return _mm_getcsr(); }
  static void set_control_word(unsigned word) { _mm_setcsr(word); }
  unsigned previous_control_word_;
#elif defined(__aarch64__)
  static constexpr uint64_t kFlush = uint64_t{1} << 24;
  static uint64_t read_control_word() {
    uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set_control_word(uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
  uint64_t previous_control_word_;
#else
  static constexpr unsigned kFlush = 0;
  static unsigned read_control_word() { return 0; }
  static void set_control_word(unsigned) {}
  unsigned previous_control_word_;
#endif
};

}  // namespace crescent::cpu
