// Arenas: memory for the intermediate values of runs, lent to one run at a time. There are as many
// arenas as runs at the same time, each as large as the largest run that used it, instead of one
// arena per program.
#pragma once
#include <atomic>
#include <memory>
#include <optional>

#include "crescent/tensor/tensor.h"
#include "memory/object_pool.h"
#include "threads/elastic_memory.h"

namespace crescent::cpu {

/// A block of memory from the allocator of tensors.
class TensorBlock {
 public:
  explicit TensorBlock(size_t bytes) : storage_(Storage::allocate(bytes, false)) {}
  std::byte* data() const { return storage_->host(); }

 private:
  std::shared_ptr<Storage> storage_;
};

class Arenas {
  using Arena = ElasticMemory<TensorBlock>;

 public:
  /// A registered user of the arenas; their memory is freed when the last user is destroyed.
  class User {
   public:
    explicit User(Arenas& arenas) : arenas_(arenas) { ++arenas_.user_count_; }
    ~User() {
      if (--arenas_.user_count_ == 0) arenas_.arenas_.clear();
    }
    User(const User&) = delete;
    User& operator=(const User&) = delete;

   private:
    Arenas& arenas_;
  };

  /// Lends `bytes` bytes of memory, with any contents, during the lifetime of this object.
  class Lease {
   public:
    Lease(Arenas& arenas, size_t bytes) {
      if (bytes == 0) return;
      arena_.emplace(arenas.arenas_, [] { return std::make_unique<Arena>(); });
      memory_ = (*arena_)->at_least(bytes);
    }
    std::byte* memory() const { return memory_; }

   private:
    std::optional<ObjectPool<Arena>::Lease> arena_;  ///< no value if `bytes` is 0
    std::byte* memory_ = nullptr;
  };

 private:
  std::atomic<int> user_count_{0};
  ObjectPool<Arena> arenas_;
};

}  // namespace crescent::cpu
