// ElasticMemory: scratch memory that callers of different sizes reuse. It grows by at least a half,
// so that it seldom moves when sizes creep up; pages that are never touched are not taken from the
// system. It shrinks when callers have wanted far less for some seconds.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace crescent::cpu {

/// Block(bytes) allocates 64-byte aligned memory, which begins at data(), and frees it when
/// destroyed.
template <class Block>
class ElasticMemory {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr int kUses = 1024;  ///< number of uses after which the clock is checked
  static constexpr Duration kPatience = std::chrono::seconds(10);

  explicit ElasticMemory(Duration patience = kPatience) : patience_(patience) {}
  /// Returns at least `bytes` bytes, contents undefined, valid until the next call. Allocates only
  /// when the memory must grow or may shrink.
  std::byte* at_least(size_t bytes) {
    most_wanted_ = std::max(most_wanted_, bytes);
    if (bytes > bytes_)
      take(std::max(bytes, bytes_ + bytes_ / 2));
    else if (++uses_ >= kUses)
      review();
    return memory_;
  }
  size_t bytes() const { return bytes_; }

 private:
  /// Frees the old memory first, so that both are never held together.
  void take(size_t bytes) {
    memory_ = nullptr, bytes_ = 0;
    block_.reset();
    if (bytes == 0) return;
    block_.emplace(bytes);
    memory_ = block_->data(), bytes_ = bytes;
  }
  void review() {
    uses_ = 0;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < patience_) return;
    if (most_wanted_ < bytes_ / 2) take(most_wanted_);
    looked_ = now, most_wanted_ = 0;
  }

  std::byte* memory_ = nullptr;
  size_t bytes_ = 0, most_wanted_ = 0;  ///< most_wanted_: since the last review()
  int uses_ = 0;
  Duration patience_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::optional<Block> block_;
};

}  // namespace crescent::cpu
