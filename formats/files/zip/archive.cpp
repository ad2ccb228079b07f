#include "files/zip/archive.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "files/zip/layout.h"

namespace crescent::zip {
namespace {

constexpr uint64_t kMaxMembers = 65536, kMaxDirectoryBytes = uint64_t{64} << 20;
// The largest compression ratio of members of more than kSmallBytes bytes. Trained weights
// hardly compress, so a larger ratio indicates an attack ("zip bomb").
constexpr uint64_t kMaxExpansion = 100, kSmallBytes = uint64_t{64} << 20;
constexpr size_t kPieceBytes = size_t{1} << 18;

[[noreturn]] void refuse(const std::string& reason) { throw ArchiveError(reason); }

[[noreturn]] void refuse_damaged(const std::string& damage) {
  refuse("the archive is damaged: " + damage);
}

std::string quoted(const Member& member) { return "'" + member.name + "'"; }

/// The 64-bit numbers in the zip64 extra field of an entry. number() must be called for the fields
/// of the entry in the order in which their 64-bit numbers are stored.
class Zip64Field {
 public:
  explicit Zip64Field(std::string_view extra) {
    for (FieldReader fields{extra}; fields.ok && fields.remaining.size() >= 4;) {
      const auto id = fields.number<uint16_t>();
      const std::string_view data = fields.text(fields.number<uint16_t>());
      if (id == kZip64Extra) fields_.remaining = data;
    }
  }
  uint64_t number(uint32_t field) {
    return field == kInZip64Extra ? fields_.number<uint64_t>() : field;
  }
  bool ok() const { return fields_.ok; }

 private:
  FieldReader fields_{};
};

}  // namespace

struct Archive::Directory {
  uint64_t count, start, size;
};

Archive::Archive(uint64_t size, ReadBytes read) : size_(size), read_(std::move(read)) {
  const Directory directory = find_directory();
  const std::string entries = bytes(directory.start, directory.size);
  std::string_view remaining = entries;
  for (uint64_t i = 0; i < directory.count; ++i) members_.push_back(member_at(remaining));
  for (Member& member : members_) find_start(member, member.start, directory.start);
  refuse_overlaps();
}

std::string Archive::bytes(uint64_t offset, uint64_t count) const {
  if (offset > size_ || count > size_ - offset) refuse_damaged("it ends too early");
  std::string result(count, '\0');
  read_(offset, std::as_writable_bytes(std::span(result)));
  return result;
}

/// Finds the end-of-directory record, whose comment must reach exactly to the end of the file.
Archive::Directory Archive::find_directory() const {
  const uint64_t tail_bytes = std::min<uint64_t>(size_, kEndLength + 0xffff);
  const std::string tail = bytes(size_ - tail_bytes, tail_bytes);
  for (size_t end_offset = tail.size() < kEndLength ? 0 : tail.size() - kEndLength + 1;
       end_offset-- > 0;) {
    FieldReader end_fields{std::string_view(tail).substr(end_offset)};
    if (end_fields.number<uint32_t>() != kEndSignature) continue;
    const auto disk = end_fields.number<uint16_t>(), first_disk = end_fields.number<uint16_t>(),
               disk_member_count = end_fields.number<uint16_t>(),
               member_count = end_fields.number<uint16_t>();
    const auto size = end_fields.number<uint32_t>(), start = end_fields.number<uint32_t>();
    if (end_fields.number<uint16_t>() != end_fields.remaining.size()) continue;
    Directory directory{member_count, start, size};
    uint64_t directory_end = size_ - tail_bytes + end_offset;
    if (member_count == kInZip64Extra16 || size == kInZip64Extra || start == kInZip64Extra) {
      if (directory_end < kLocatorLength) refuse_damaged("it has no directory");
      const std::string locator = bytes(directory_end - kLocatorLength, kLocatorLength);
      FieldReader locator_fields{locator};
      if (locator_fields.number<uint32_t>() != kLocatorSignature)
        refuse_damaged("it has no directory");
      locator_fields.number<uint32_t>();
      directory_end = locator_fields.number<uint64_t>();
      const std::string record = bytes(directory_end, kEnd64Length);
      FieldReader zip64_end{record};
      if (zip64_end.number<uint32_t>() != kEnd64Signature) refuse_damaged("it has no directory");
      constexpr size_t kBytesBeforeCount = 28;
      zip64_end.text(kBytesBeforeCount);
      directory.count = zip64_end.number<uint64_t>();
      directory.size = zip64_end.number<uint64_t>();
      directory.start = zip64_end.number<uint64_t>();
    } else if (disk != 0 || first_disk != 0 || disk_member_count != member_count) {
      refuse("the archive is one part of several");
    }
    if (directory.start > directory_end || directory.size != directory_end - directory.start)
      refuse_damaged("its directory is not where it says");
    if (directory.count > kMaxMembers || directory.size > kMaxDirectoryBytes)
      refuse("the archive has more members than are looked at (" + std::to_string(kMaxMembers) +
             ")");
    return directory;
  }
  refuse_damaged("it has no directory at its end");
}

/// Reads an entry of the directory. In the result, `start` is the offset of the local header;
/// find_start() later replaces it by the offset of the data.
Member Archive::member_at(std::string_view& remaining) const {
  FieldReader fields{remaining};
  Member member;
  if (fields.number<uint32_t>() != kEntrySignature) refuse_damaged("its directory is broken");
  const auto made_by = fields.number<uint16_t>();
  fields.number<uint16_t>();
  member.flags = fields.number<uint16_t>();
  member.method = fields.number<uint16_t>();
  fields.number<uint32_t>();  // skips the time and the date
  member.checksum = fields.number<uint32_t>();
  const auto stored_size = fields.number<uint32_t>(), size = fields.number<uint32_t>();
  const auto name_length = fields.number<uint16_t>(), extra_length = fields.number<uint16_t>(),
             comment_length = fields.number<uint16_t>(), disk = fields.number<uint16_t>();
  fields.number<uint16_t>();
  const auto attributes = fields.number<uint32_t>(), header_offset = fields.number<uint32_t>();
  member.name = fields.text(name_length);
  Zip64Field zip64(fields.text(extra_length));
  fields.text(comment_length);
  member.size = zip64.number(size);
  member.stored_bytes = zip64.number(stored_size);
  member.start = zip64.number(header_offset);
  if (!fields.ok || !zip64.ok() || disk != 0) refuse_damaged("its directory is broken");
  constexpr uint32_t kTypeMask = 0170000, kLink = 0120000, kUnix = 3;
  member.is_link = made_by >> 8 == kUnix && (attributes >> 16 & kTypeMask) == kLink;
  remaining = fields.remaining;
  return member;
}

/// Finds the offset of a member's bytes, which follow its local header. Fails if the local header
/// differs from the directory.
void Archive::find_start(Member& member, uint64_t header_offset, uint64_t data_end) const {
  const std::string record = bytes(header_offset, kLocalLength);
  FieldReader fields{record};
  constexpr size_t kBeforeLengths = 22;
  const bool is_header = fields.number<uint32_t>() == kLocalSignature;
  fields.text(kBeforeLengths);
  const auto name_length = fields.number<uint16_t>(), extra_length = fields.number<uint16_t>();
  if (!is_header || name_length != member.name.size() ||
      bytes(header_offset + kLocalLength, name_length) != member.name)
    refuse_damaged("there is something else where " + quoted(member) + " should be");
  member.start = header_offset + kLocalLength + name_length + extra_length;
  if (member.start > data_end || member.stored_bytes > data_end - member.start)
    refuse_damaged(quoted(member) + " reaches beyond its end");
}

void Archive::refuse_overlaps() const {
  std::vector<const Member*> sorted_members;
  for (const Member& member : members_) sorted_members.push_back(&member);
  std::sort(sorted_members.begin(), sorted_members.end(),
            [](const Member* a, const Member* b) { return a->start < b->start; });
  for (size_t i = 1; i < sorted_members.size(); ++i)
    if (sorted_members[i - 1]->start + sorted_members[i - 1]->stored_bytes + kLocalLength >
        sorted_members[i]->start)
      refuse_damaged(quoted(*sorted_members[i - 1]) + " and " + quoted(*sorted_members[i]) +
                     " share bytes in it");
}

const Member* Archive::find(std::string_view name) const {
  const Member* found = nullptr;
  for (const Member& member : members_) {
    if (member.name != name) continue;
    if (found) refuse_damaged(quoted(member) + " stands in it twice");
    found = &member;
  }
  if (!found) return nullptr;
  // The flags of encrypted members and of patches, neither of which can be read.
  constexpr uint16_t kUnreadable = 1 | 1 << 5 | 1 << 6 | 1 << 13;
  if (found->flags & kUnreadable) refuse(quoted(*found) + " is encrypted");
  if (found->is_link) refuse(quoted(*found) + " is a link, which is never followed");
  if (found->method != kStored && found->method != kDeflated)
    refuse(quoted(*found) + " is packed by method " + std::to_string(found->method) +
           "; stored and deflated ones are read");
  if (!found->is_compressed() && found->stored_bytes != found->size)
    refuse_damaged(quoted(*found) + " has two sizes");
  if (found->size > kSmallBytes && found->size / kMaxExpansion > found->stored_bytes)
    refuse(quoted(*found) + " promises " + std::to_string(found->size) + " bytes and stores " +
           std::to_string(found->stored_bytes));
  return found;
}

void Archive::unpack(const Member& member, std::span<std::byte> target) const {
  if (member.is_compressed())
    inflate(member, target);
  else
    read_(member.start, target);
  const auto* unpacked_data = reinterpret_cast<const Bytef*>(target.data());
  if (target.size() != member.size || crc32_z(0, unpacked_data, target.size()) != member.checksum)
    refuse_damaged(quoted(member) + ": its checksum differs");
}

std::string Archive::text(const Member& member) const {
  std::string result(member.size, '\0');
  unpack(member, std::as_writable_bytes(std::span(result)));
  return result;
}

void Archive::check(const Member& member) const {
  uLong checksum = crc32_z(0, nullptr, 0);
  for (uint64_t offset = 0; offset < member.stored_bytes; offset += kPieceBytes) {
    const std::string piece =
        bytes(member.start + offset, std::min<uint64_t>(kPieceBytes, member.stored_bytes - offset));
    checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  }
  if (checksum != member.checksum) refuse_damaged(quoted(member) + ": its checksum differs");
}

void Archive::inflate(const Member& member, std::span<std::byte> target) const {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) refuse("there is no memory to unpack it");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> stream_closer(&stream, inflateEnd);
  uint64_t consumed_bytes = 0, produced_bytes = 0;
  std::string piece;
  int status = Z_OK;
  while (status == Z_OK || status == Z_BUF_ERROR) {
    if (stream.avail_in == 0) {
      piece = bytes(member.start + consumed_bytes,
                    std::min<uint64_t>(kPieceBytes, member.stored_bytes - consumed_bytes));
      consumed_bytes += piece.size();
      stream.next_in = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_in = static_cast<uInt>(piece.size());
    }
    const size_t free_bytes = std::min(target.size() - produced_bytes, kPieceBytes);
    Bytef unused_byte = 0;
    stream.next_out =
        free_bytes > 0 ? reinterpret_cast<Bytef*>(target.data() + produced_bytes) : &unused_byte;
    stream.avail_out = static_cast<uInt>(free_bytes);
    status = ::inflate(&stream, Z_NO_FLUSH);
    produced_bytes += free_bytes - stream.avail_out;
    if (status == Z_BUF_ERROR && (free_bytes == 0 || consumed_bytes == member.stored_bytes)) break;
  }
  if (status != Z_STREAM_END || produced_bytes != member.size ||
      consumed_bytes != member.stored_bytes || stream.avail_in != 0)
    refuse_damaged(quoted(member) + " cannot be unpacked");
}

}  // namespace crescent::zip
