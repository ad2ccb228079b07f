#include "threads/thread_scratch.h"

#include <memory>
#include <new>

namespace crescent::cpu {

std::byte* thread_scratch(size_t bytes) {
  constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
  };
  thread_local std::unique_ptr<std::byte, Free> memory;
  thread_local size_t size = 0;
  if (bytes > size) {
    memory.reset(), size = 0;
    memory.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment))), size = bytes;
  }
  return memory.get();
}

}  // namespace crescent::cpu
