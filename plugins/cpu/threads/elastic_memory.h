// Memory that is used again and again for this and that. It grows at once, by a half at least, so
// that it moves seldom where a little more is wanted each time: what is not touched is not taken
// from the system. It shrinks when for some seconds far less of it was wanted.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace crescent::cpu {

/// Block(bytes) takes 64-byte aligned memory, which begins at data(), and gives it back in the end.
template <class Block>
class ElasticMemory {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr int kUses = 1024;  ///< after so many the clock is looked at
  static constexpr Duration kPatience = std::chrono::seconds(10);

  explicit ElasticMemory(Duration patience = kPatience) : patience_(patience) {}
  /// Contents undefined; until the next call. Allocates only when it must grow or may shrink.
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
  /// What is there goes first, so that both are never held together.
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
  size_t bytes_ = 0, most_wanted_ = 0;  ///< the latter since the last look
  int uses_ = 0;
  Duration patience_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::optional<Block> block_;
};

}  // namespace crescent::cpu
