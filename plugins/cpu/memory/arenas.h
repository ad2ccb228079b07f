// Arenas: memory for the intermediate values of runs, lent to one run at a time. There are as many
// arenas as concurrent runs, each as large as its largest run, instead of one per program.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "crescent/tensor/tensor.h"
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
  /// Registers a user of the arenas. Their memory is freed with the last user.
  class User {
   public:
    explicit User(Arenas& arenas) : arenas_(arenas) { ++arenas_.users_; }
    ~User() {
      if (--arenas_.users_ == 0) arenas_.clear();
    }
    User(const User&) = delete;
    User& operator=(const User&) = delete;

   private:
    Arenas& arenas_;
  };

  /// Lends `bytes` of memory, contents undefined, for the lease's lifetime.
  class Lease {
   public:
    Lease(Arenas& arenas, size_t bytes);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::byte* memory() const { return memory_; }

   private:
    Arenas& arenas_;
    Arena* arena_ = nullptr;  ///< null for 0 bytes
    std::byte* memory_ = nullptr;
  };

 private:
  Arena* take();
  void give_back(Arena* arena);
  /// Frees the arenas that are not on lease.
  void clear();

  std::atomic<int> users_{0};
  std::atomic<Arena*> latest_{nullptr};  ///< returned last, mostly the only one
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> all_;
  std::vector<Arena*> idle_;  ///< the other arenas not on lease
};

}  // namespace crescent::cpu
