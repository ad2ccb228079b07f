// Arenas: memory for the intermediate values of a run, lent to one run at a time. So there are as
// many as runs at the same time, each as large as its largest run, and not one a program.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "crescent/tensor/tensor.h"
#include "threads/elastic_memory.h"

namespace crescent::cpu {

/// Memory as tensors have it.
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
  /// One who may borrow. When the last one goes, so does the memory.
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

  /// While alive, `bytes` of memory are the holder's; contents undefined.
  class Lease {
   public:
    Lease(Arenas& arenas, size_t bytes);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::byte* memory() const { return memory_; }

   private:
    Arenas& arenas_;
    Arena* arena_ = nullptr;  ///< null when nothing is wanted
    std::byte* memory_ = nullptr;
  };

 private:
  Arena* take();
  void give_back(Arena* arena);
  /// Frees what nobody has borrowed.
  void clear();

  std::atomic<int> users_{0};
  std::atomic<Arena*> latest_{nullptr};  ///< given back last: mostly the only one
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> all_;
  std::vector<Arena*> idle_;  ///< beside the latest
};

}  // namespace crescent::cpu
