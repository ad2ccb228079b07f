#include "files/zip/archive.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "files/zip/layout.h"

namespace crescent::zip {
namespace {

constexpr uint64_t kMaxMembers = 65536, kLongestDirectory = uint64_t{64} << 20;
// The largest compression ratio of members of more than kSmall bytes. Trained weights hardly
// compress, so a larger ratio indicates an attack ("zip bomb").
constexpr uint64_t kMaxExpansion = 100, kSmall = uint64_t{64} << 20;
constexpr size_t kPiece = size_t{1} << 18;

[[noreturn]] void refuse(const std::string& why) { throw ArchiveError(why); }

[[noreturn]] void refuse_damaged(const std::string& what) {
  refuse("the archive is damaged: " + what);
}

std::string quoted(const Member& member) { return "'" + member.name + "'"; }

/// The 64-bit numbers in the zip64 extra field of an entry. take() must be called for them in the
/// order in which they are stored.
class Zip64 {
 public:
  explicit Zip64(std::string_view extra) {
    for (Fields fields{extra}; fields.ok && fields.remaining.size() >= 4;) {
      const auto id = fields.number<uint16_t>();
      const std::string_view data = fields.text(fields.number<uint16_t>());
      if (id == kZip64Extra) fields_.remaining = data;
    }
  }
  uint64_t number(uint32_t field) {
    return field == kElsewhere ? fields_.number<uint64_t>() : field;
  }
  bool ok() const { return fields_.ok; }

 private:
  Fields fields_{};
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
  const uint64_t longest = std::min<uint64_t>(size_, kEndLength + 0xffff);
  const std::string tail = bytes(size_ - longest, longest);
  for (size_t at = tail.size() < kEndLength ? 0 : tail.size() - kEndLength + 1; at-- > 0;) {
    Fields end{std::string_view(tail).substr(at)};
    if (end.number<uint32_t>() != kEndSignature) continue;
    const auto disk = end.number<uint16_t>(), first_disk = end.number<uint16_t>(),
               disk_members = end.number<uint16_t>(), members = end.number<uint16_t>();
    const auto size = end.number<uint32_t>(), start = end.number<uint32_t>();
    if (end.number<uint16_t>() != end.remaining.size()) continue;
    Directory directory{members, start, size};
    uint64_t until = size_ - longest + at;
    if (members == kElsewhere16 || size == kElsewhere || start == kElsewhere) {
      if (until < kLocatorLength) refuse_damaged("it has no directory");
      const std::string locator = bytes(until - kLocatorLength, kLocatorLength);
      Fields place{locator};
      if (place.number<uint32_t>() != kLocatorSignature) refuse_damaged("it has no directory");
      place.number<uint32_t>();
      until = place.number<uint64_t>();
      const std::string record = bytes(until, kEnd64Length);
      Fields large{record};
      if (large.number<uint32_t>() != kEnd64Signature) refuse_damaged("it has no directory");
      constexpr size_t kBeforeCount = 28;
      large.text(kBeforeCount);
      directory.count = large.number<uint64_t>();
      directory.size = large.number<uint64_t>();
      directory.start = large.number<uint64_t>();
    } else if (disk != 0 || first_disk != 0 || disk_members != members) {
      refuse("the archive is one part of several");
    }
    if (directory.start > until || directory.size != until - directory.start)
      refuse_damaged("its directory is not where it says");
    if (directory.count > kMaxMembers || directory.size > kLongestDirectory)
      refuse("the archive has more members than are looked at (" + std::to_string(kMaxMembers) +
             ")");
    return directory;
  }
  refuse_damaged("it has no directory at its end");
}

/// Reads an entry of the directory. In the result, `start` is the offset of the local header;
/// find_start() later replaces it by the offset of the data.
Member Archive::member_at(std::string_view& remaining) const {
  Fields fields{remaining};
  Member member;
  if (fields.number<uint32_t>() != kEntrySignature) refuse_damaged("its directory is broken");
  const auto made_by = fields.number<uint16_t>();
  fields.number<uint16_t>();
  member.flags = fields.number<uint16_t>();
  member.method = fields.number<uint16_t>();
  fields.number<uint32_t>();  // skips the time and the date
  member.checksum = fields.number<uint32_t>();
  const auto stored = fields.number<uint32_t>(), size = fields.number<uint32_t>();
  const auto name = fields.number<uint16_t>(), extra = fields.number<uint16_t>(),
             comment = fields.number<uint16_t>(), disk = fields.number<uint16_t>();
  fields.number<uint16_t>();
  const auto attributes = fields.number<uint32_t>(), header = fields.number<uint32_t>();
  member.name = fields.text(name);
  Zip64 large(fields.text(extra));
  fields.text(comment);
  member.size = large.number(size);
  member.stored = large.number(stored);
  member.start = large.number(header);
  if (!fields.ok || !large.ok() || disk != 0) refuse_damaged("its directory is broken");
  constexpr uint32_t kTypeMask = 0170000, kLink = 0120000, kUnix = 3;
  member.is_link = made_by >> 8 == kUnix && (attributes >> 16 & kTypeMask) == kLink;
  remaining = fields.remaining;
  return member;
}

/// Finds the offset of a member's bytes, which follow its local header. Fails if the local header
/// differs from the directory.
void Archive::find_start(Member& member, uint64_t header, uint64_t end) const {
  const std::string record = bytes(header, kLocalLength);
  Fields fields{record};
  constexpr size_t kBeforeLengths = 22;
  const bool is_header = fields.number<uint32_t>() == kLocalSignature;
  fields.text(kBeforeLengths);
  const auto name = fields.number<uint16_t>(), extra = fields.number<uint16_t>();
  if (!is_header || name != member.name.size() || bytes(header + kLocalLength, name) != member.name)
    refuse_damaged("there is something else where " + quoted(member) + " should be");
  member.start = header + kLocalLength + name + extra;
  if (member.start > end || member.stored > end - member.start)
    refuse_damaged(quoted(member) + " reaches beyond its end");
}

void Archive::refuse_overlaps() const {
  std::vector<const Member*> in_order;
  for (const Member& member : members_) in_order.push_back(&member);
  std::sort(in_order.begin(), in_order.end(),
            [](const Member* a, const Member* b) { return a->start < b->start; });
  for (size_t i = 1; i < in_order.size(); ++i)
    if (in_order[i - 1]->start + in_order[i - 1]->stored + kLocalLength > in_order[i]->start)
      refuse_damaged(quoted(*in_order[i - 1]) + " and " + quoted(*in_order[i]) +
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
  if (!found->packed() && found->stored != found->size)
    refuse_damaged(quoted(*found) + " has two sizes");
  if (found->size > kSmall && found->size / kMaxExpansion > found->stored)
    refuse(quoted(*found) + " promises " + std::to_string(found->size) + " bytes and stores " +
           std::to_string(found->stored));
  return found;
}

void Archive::unpack(const Member& member, std::span<std::byte> target) const {
  if (member.packed())
    inflate(member, target);
  else
    read_(member.start, target);
  const auto* unpacked = reinterpret_cast<const Bytef*>(target.data());
  if (target.size() != member.size || crc32_z(0, unpacked, target.size()) != member.checksum)
    refuse_damaged(quoted(member) + ": its checksum differs");
}

std::string Archive::text(const Member& member) const {
  std::string result(member.size, '\0');
  unpack(member, std::as_writable_bytes(std::span(result)));
  return result;
}

void Archive::check(const Member& member) const {
  uLong checksum = crc32_z(0, nullptr, 0);
  for (uint64_t at = 0; at < member.stored; at += kPiece) {
    const std::string piece =
        bytes(member.start + at, std::min<uint64_t>(kPiece, member.stored - at));
    checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  }
  if (checksum != member.checksum) refuse_damaged(quoted(member) + ": its checksum differs");
}

void Archive::inflate(const Member& member, std::span<std::byte> target) const {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) refuse("there is no memory to unpack it");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closing(&stream, inflateEnd);
  uint64_t consumed = 0, produced = 0;
  std::string piece;
  int status = Z_OK;
  while (status == Z_OK || status == Z_BUF_ERROR) {
    if (stream.avail_in == 0) {
      piece = bytes(member.start + consumed, std::min<uint64_t>(kPiece, member.stored - consumed));
      consumed += piece.size();
      stream.next_in = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_in = static_cast<uInt>(piece.size());
    }
    const size_t room = std::min(target.size() - produced, kPiece);
    Bytef empty = 0;
    stream.next_out = room > 0 ? reinterpret_cast<Bytef*>(target.data() + produced) : &empty;
    stream.avail_out = static_cast<uInt>(room);
    status = ::inflate(&stream, Z_NO_FLUSH);
    produced += room - stream.avail_out;
    if (status == Z_BUF_ERROR && (room == 0 || consumed == member.stored)) break;
  }
  if (status != Z_STREAM_END || produced != member.size || consumed != member.stored ||
      stream.avail_in != 0)
    refuse_damaged(quoted(member) + " cannot be unpacked");
}

}  // namespace crescent::zip
