// ElasticMemory: scratch memory that callers with different needs reuse. When it grows, it grows by
// at least a half, so that it seldom moves if the needs increase slowly; pages that are never
// written to take no physical memory. It shrinks if for some seconds callers have needed far less.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace crescent::cpu {

/// `Block` must allocate 64-byte aligned memory in its constructor Block(bytes), return its address
/// by data(), and free it in its destructor.
template <class Block>
class ElasticMemory {
 public:
  using Duration = std::chrono::steady_clock::duration;
  /// Number of calls of at_least() after which the clock is checked.
  static constexpr int kUsesPerCheck = 1024;
  static constexpr Duration kPatience = std::chrono::seconds(10);

  explicit ElasticMemory(Duration patience = kPatience) : patience_(patience) {}
  /// Returns the address of at least `bytes` bytes with any contents, valid until the next call.
  /// Allocates only if the memory must grow or may shrink.
  std::byte* at_least(size_t bytes) {
    largest_request_ = std::max(largest_request_, bytes);
    if (bytes > bytes_)
      reallocate(std::max(bytes, bytes_ + bytes_ / 2));
    else if (++use_count_ >= kUsesPerCheck)
      shrink_if_unused();
    return memory_;
  }
  size_t bytes() const { return bytes_; }

 private:
  /// Replaces the memory; the old memory is freed first, so that both never exist at the same time.
  void reallocate(size_t bytes) {
    memory_ = nullptr, bytes_ = 0;
    block_.reset();
    if (bytes == 0) return;
    block_.emplace(bytes);
    memory_ = block_->data(), bytes_ = bytes;
  }
  void shrink_if_unused() {
    use_count_ = 0;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_review_ < patience_) return;
    if (largest_request_ < bytes_ / 2) reallocate(largest_request_);
    last_review_ = now, largest_request_ = 0;
  }

  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;  ///< the present size
  /// The largest size that a caller has asked for since the last shrink_if_unused().
  size_t largest_request_ = 0;
  int use_count_ = 0;
  Duration patience_;
  std::chrono::steady_clock::time_point last_review_ = std::chrono::steady_clock::now();
  std::optional<Block> block_;
};

}  // namespace crescent::cpu
