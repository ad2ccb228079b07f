// Reads an untrusted zip archive: stored and deflated members, by exact name, with sizes above 4
// GiB (zip64). It writes no files, checks every offset and size before use, and refuses archives
// that two readers could interpret differently (two members of one name, members that share bytes,
// a directory in another place than the end record says).
//
// The only library that reads the bytes is zlib, whose inflate writes no more than the checked
// size; so archives of arrays (.npz) are read in the user's process, without a sandbox.
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

/// The reason why an archive or a member cannot be read.
struct CRESCENT_FILES_API ArchiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Member {
  std::string name;
  uint64_t start = 0;  ///< the offset of the member's bytes in the archive
  /// the number of bytes of the member in the archive, where it may be compressed
  uint64_t stored_bytes = 0;
  uint64_t size = 0;  ///< the number of bytes after decompression
  uint32_t checksum = 0;
  uint16_t method = 0, flags = 0;
  bool is_link = false;

  bool is_compressed() const { return method != 0; }
};

class CRESCENT_FILES_API Archive {
 public:
  /// A function that fills `target` with the bytes of the archive from `offset` on; it is called
  /// only for bytes that exist.
  using ReadBytes = std::function<void(uint64_t offset, std::span<std::byte> target)>;

  /// Reads the directory of an archive with this size in bytes.
  Archive(uint64_t size, ReadBytes read);

  const std::vector<Member>& members() const { return members_; }
  /// The member of this name; null if there is none. Throws ArchiveError for a member that cannot
  /// be read: encrypted, a link, compressed by an unknown method, or with a size that its
  /// compressed bytes cannot expand to.
  const Member* find(std::string_view name) const;
  /// Decompresses a member to `target`, which must have the size of the member. Throws ArchiveError
  /// if the checksum differs.
  void unpack(const Member& member, std::span<std::byte> target) const;
  std::string text(const Member& member) const;
  /// Throws ArchiveError if the bytes of a stored member do not match its checksum.
  void check(const Member& member) const;

 private:
  struct Directory;
  Directory find_directory() const;
  Member member_at(std::string_view& remaining) const;
  void find_start(Member& member, uint64_t header_offset, uint64_t data_end) const;
  void refuse_overlaps() const;
  void inflate(const Member& member, std::span<std::byte> target) const;
  std::string bytes(uint64_t offset, uint64_t count) const;

  uint64_t size_;
  ReadBytes read_;
  std::vector<Member> members_;
};

}  // namespace crescent::zip
