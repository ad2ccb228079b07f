#include "threads/thread_scratch.h"

#include <memory>
#include <new>

#include "threads/elastic_memory.h"

namespace crescent::cpu {
namespace {

/// Memory for ElasticMemory that does not come from the allocator of tensors. The sequence of that
/// allocator's allocations must be deterministic, while it depends on chance which thread gets a
/// large part of the work and has to allocate scratch memory.
class AlignedBlock {
 public:
  explicit AlignedBlock(size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new(bytes, kAlignment))) {}
  std::byte* data() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct MemoryDeleter {
    void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<std::byte, MemoryDeleter> memory_;
};

}  // namespace

std::byte* thread_scratch(size_t bytes) {
  thread_local ElasticMemory<AlignedBlock> memory;
  return memory.at_least(bytes);
}

std::byte* slice_scratch(size_t bytes) {
  thread_local ElasticMemory<AlignedBlock> memory;
  return memory.at_least(bytes);
}

}  // namespace crescent::cpu
