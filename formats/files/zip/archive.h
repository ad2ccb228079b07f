// Looks into a zip archive that nobody vouches for: stored and deflated members, by exact name,
// large ones too (zip64). Nothing is written anywhere, every place and size is checked against the
// file before it is used, and what two readers could understand in two ways (a name that stands
// twice, members that share bytes, a directory that is not where it says) is refused.
//
// Of libraries only zlib's inflate sees the bytes, and it writes no further than the size that was
// checked; so archives of arrays (.npz) are read in the user's process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "files/export.h"

namespace crescent::zip {

/// Why an archive or a member of it is not read.
struct CRESCENT_FILES_API ArchiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Member {
  std::string name;
  uint64_t start = 0;   ///< where its bytes lie in the archive
  uint64_t stored = 0;  ///< bytes there
  uint64_t size = 0;    ///< bytes once it is unpacked
  uint32_t checksum = 0;
  uint16_t method = 0, flags = 0;
  bool is_link = false;

  bool packed() const { return method != 0; }
};

class CRESCENT_FILES_API Archive {
 public:
  /// Fills `target` with the bytes of the archive from `offset` on; never asked for others than
  /// there are.
  using Read = std::function<void(uint64_t offset, std::span<std::byte> target)>;

  /// Reads the directory, `size` being that of the file.
  Archive(uint64_t size, Read read);

  const std::vector<Member>& members() const { return members_; }
  /// Null when it is not there. ArchiveError when it cannot be unpacked here: encrypted, a link, of
  /// an unknown method, or one that promises more than such bytes can hold.
  const Member* find(std::string_view name) const;
  /// `target` has the size of the member. ArchiveError when the bytes are not those that were
  /// packed.
  void unpack(const Member& member, std::span<std::byte> target) const;
  std::string text(const Member& member) const;
  /// ArchiveError when the bytes of a stored member are not those of its checksum.
  void check(const Member& member) const;

 private:
  struct Directory;
  Directory find_directory() const;
  Member member_at(std::string_view& left) const;
  void find_start(Member& member, uint64_t header, uint64_t end) const;
  void refuse_overlaps() const;
  void inflate(const Member& member, std::span<std::byte> target) const;
  std::string bytes(uint64_t offset, uint64_t count) const;

  uint64_t size_;
  Read read_;
  std::vector<Member> members_;
};

}  // namespace crescent::zip
