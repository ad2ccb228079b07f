#include "files/zip/image.h"

#include <zlib.h>

#include <algorithm>
#include <bit>

#include "files/in_parallel.h"
#include "files/zip/layout.h"

namespace crescent::zip {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint16_t kVersion = 20, kVersion64 = 45, kUnix = 3, kUtf8 = 1 << 11;
// the modification time of every member, always 1980-01-01, so that equal contents give equal
// archives
constexpr uint32_t kFileTime = 0x21u << 16;
constexpr uint32_t kFileMode = 0600u << 16;

// Members of at least kLargeMemberBytes bytes begin at an offset that is a multiple of kPage.
// Arrays in them that are aligned to a page of the member are then also aligned in the archive.
constexpr uint64_t kPage = 4096, kLargeMemberBytes = 64 << 10;
// the id of the extra field for padding, the same as that of zipalign
constexpr uint16_t kPaddingId = 0xd935;

uint64_t size_of(const File& file) {
  uint64_t size = 0;
  for (const Bytes& piece : file.pieces) size += piece.size();
  return size;
}

uint32_t checksum_of(const File& file) {
  std::vector<uint64_t> sizes;
  for (const Bytes& piece : file.pieces) sizes.push_back(piece.size());
  const auto chunks = files::chunks_of(std::vector<uint64_t>(sizes.size()), sizes);
  std::vector<uLong> checksums(chunks.size());
  files::in_parallel(chunks.size(), [&](size_t k) {
    const auto* bytes = reinterpret_cast<const Bytef*>(file.pieces[chunks[k].array_index].data());
    checksums[k] = crc32_z(0, bytes + chunks[k].offset, chunks[k].size);
  });
  uLong checksum = crc32_z(0, nullptr, 0);
  for (size_t k = 0; k < chunks.size(); ++k)
    checksum = crc32_combine(checksum, checksums[k], static_cast<z_off_t>(chunks[k].size));
  return static_cast<uint32_t>(checksum);
}

uint32_t clamped_to_32_bits(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, kInZip64Extra));
}
bool needs_zip64(uint64_t number) { return number >= kInZip64Extra; }

uint16_t flags_of(const std::string& name) {
  const bool is_ascii =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return c < 128; });
  return is_ascii ? 0 : kUtf8;
}

uint16_t length_of(const std::string& text) { return static_cast<uint16_t>(text.size()); }

/// Adds the fields that the local header and the directory entry of a file share.
void add_common_fields(Record& record, const std::string& name, uint32_t checksum, uint64_t size) {
  record.add(needs_zip64(size) ? kVersion64 : kVersion).add(flags_of(name)).add(kStored);
  record.add(kFileTime).add(checksum).add(clamped_to_32_bits(size)).add(clamped_to_32_bits(size));
}

std::string zip64_extra(const std::vector<uint64_t>& numbers) {
  if (numbers.empty()) return "";
  Record extra;
  extra.add(kZip64Extra).add(static_cast<uint16_t>(8 * numbers.size()));
  for (uint64_t number : numbers) extra.add(number);
  return extra.bytes;
}

/// An extra field whose length moves the beginning of the member from the offset `end` to the start
/// of the next page.
std::string padding(uint64_t end) {
  constexpr uint64_t kFieldHeader = 4;
  uint64_t pad_bytes = (kPage - end % kPage) % kPage;
  if (pad_bytes == 0) return "";
  if (pad_bytes < kFieldHeader) pad_bytes += kPage;
  Record extra;
  extra.add(kPaddingId).add(static_cast<uint16_t>(pad_bytes - kFieldHeader));
  return extra.bytes + std::string(pad_bytes - kFieldHeader, '\0');
}

}  // namespace

Image::Image(const std::vector<File>& files) {
  for (const File& file : files) add(file);
  add_directory();
}

void Image::add_record(std::string bytes) {
  size_ += bytes.size();
  pieces_.push_back(std::as_bytes(std::span(records_.emplace_back(std::move(bytes)))));
}

void Image::add(const File& file) {
  const uint64_t size = size_of(file), start = size_;
  const uint32_t checksum = checksum_of(file);
  const std::vector<uint64_t> sizes(needs_zip64(size) ? 2 : 0, size);
  std::string extra = zip64_extra(sizes);
  if (size >= kLargeMemberBytes)
    extra += padding(size_ + kLocalLength + file.name.size() + extra.size());
  Record header;
  add_common_fields(header.add(kLocalSignature), file.name, checksum, size);
  header.add(length_of(file.name)).add(length_of(extra));
  add_record(header.bytes + file.name + extra);
  for (const Bytes& piece : file.pieces) pieces_.push_back(piece);
  size_ += size;

  std::vector<uint64_t> zip64_numbers = sizes;
  if (needs_zip64(start)) zip64_numbers.push_back(start);
  extra = zip64_extra(zip64_numbers);
  Record entry;
  entry.add(kEntrySignature).add(static_cast<uint16_t>(kUnix << 8 | kVersion));
  add_common_fields(entry, file.name, checksum, size);
  // The last 0 is the length of the comment.
  entry.add(length_of(file.name)).add(length_of(extra)).add(uint16_t{0});
  entry.add(uint32_t{0}).add(kFileMode).add(clamped_to_32_bits(start));
  directory_ += entry.bytes + file.name + extra;
  ++file_count_;
}

void Image::add_directory() {
  const uint64_t start = size_, size = directory_.size();
  add_record(directory_);
  Record end_record;
  if (needs_zip64(start) || file_count_ >= kInZip64Extra16) {
    constexpr uint64_t kBytesAfterLength = kEnd64Length - 12;
    end_record.add(kEnd64Signature).add(kBytesAfterLength).add(kVersion64).add(kVersion64);
    end_record.add(uint32_t{0})
        .add(uint32_t{0})
        .add(file_count_)
        .add(file_count_)
        .add(size)
        .add(start);
    end_record.add(kLocatorSignature).add(uint32_t{0}).add(start + size).add(uint32_t{1});
  }
  const auto count = static_cast<uint16_t>(std::min<uint64_t>(file_count_, kInZip64Extra16));
  end_record.add(kEndSignature).add(uint32_t{0}).add(count).add(count);
  end_record.add(clamped_to_32_bits(size)).add(clamped_to_32_bits(start)).add(uint16_t{0});
  add_record(end_record.bytes);
}

}  // namespace crescent::zip
