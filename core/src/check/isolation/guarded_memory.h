// GuardedMemory: memory in which reads and writes beyond its ends are noticed.
#pragma once
#include <cstddef>
#include <span>

namespace crescent::check {

/// Bytes between two margins with known contents. A page that cannot be accessed precedes the first
/// margin, and another one follows the second margin.
class GuardedMemory {
 public:
  /// The position of the bytes in their memory.
  enum class Placement {
    aligned,        ///< at a multiple of 64, with margins at both ends
    at_first_page,  ///< directly after a page that cannot be accessed
    at_last_page    ///< directly before a page that cannot be accessed
  };

  GuardedMemory(size_t bytes, std::byte fill_byte, Placement placement = Placement::aligned);
  GuardedMemory(GuardedMemory&& other) noexcept;
  ~GuardedMemory();

  std::byte* data() const { return data_; }
  /// Whether the bytes of the margins are unchanged.
  bool is_intact() const;

 private:
  std::span<std::byte> bytes_before() const;
  std::span<std::byte> bytes_after() const;

  size_t bytes_, usable_bytes_;
  std::byte *pages_, *data_ = nullptr;
};

}  // namespace crescent::check
