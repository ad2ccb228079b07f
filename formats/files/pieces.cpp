#include "files/pieces.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "crescent/base/error.h"
#include "files/crc32c.h"

namespace crescent::files {
namespace {

class CheckedStorage final : public Storage {
 public:
  CheckedStorage(std::shared_ptr<Storage> file, uint64_t start, uint64_t bytes,
                 std::vector<uint32_t> checksums, std::string array_name)
      : file_(std::move(file)),
        start_(start),
        checksums_(std::move(checksums)),
        is_verified_(checksums_.size()),
        array_name_(std::move(array_name)) {
    bytes_ = bytes;
  }

  void fetch(size_t offset, size_t count, void* target) const override {
    file_->read(start_ + offset, count, target);
    for (size_t piece_index = offset / kPieceBytes; piece_index * kPieceBytes < offset + count;
         ++piece_index)
      if (!is_verified_[piece_index].load(std::memory_order_relaxed))
        check_piece(piece_index, offset, count, static_cast<const std::byte*>(target));
  }
  size_t block() const override { return file_->block(); }
  std::string location() const override { return file_->location(); }

 private:
  /// Compares the piece `piece_index` with its checksum. `read_values` holds the bytes
  /// [offset, offset + count); a piece that extends beyond them is read from the file.
  void check_piece(size_t piece_index, size_t offset, size_t count,
                   const std::byte* read_values) const {
    const size_t begin = piece_index * kPieceBytes,
                 size = std::min<size_t>(kPieceBytes, bytes_ - begin);
    const bool is_already_read = begin >= offset && begin + size <= offset + count;
    std::vector<std::byte> piece(is_already_read ? 0 : size);
    if (!is_already_read) file_->read(start_ + begin, size, piece.data());
    if (crc32c(is_already_read ? read_values + (begin - offset) : piece.data(), size) !=
        checksums_[piece_index])
      fail(array_name_, " is damaged: bytes ", begin, " to ", begin + size,
           " of it are not those that were saved");
    is_verified_[piece_index].store(true, std::memory_order_relaxed);
  }

  std::shared_ptr<Storage> file_;
  uint64_t start_;
  std::vector<uint32_t> checksums_;
  /// Whether each piece was compared with its checksum.
  mutable std::vector<std::atomic<bool>> is_verified_;
  std::string array_name_;
};

}  // namespace

uint32_t joined_checksum(const std::vector<uint32_t>& checksums, uint64_t bytes) {
  uint32_t joined = crc32c(nullptr, 0);
  for (uint32_t checksum : checksums) {
    const uint64_t size = std::min(kPieceBytes, bytes);
    joined = crc32c_joined(joined, checksum, size);
    bytes -= size;
  }
  return joined;
}

std::vector<std::string> texts_of_checksums(const std::vector<uint32_t>& checksums) {
  std::vector<std::string> texts;
  for (uint32_t checksum : checksums) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", checksum);
    texts.emplace_back(digits);
  }
  return texts;
}

std::vector<uint32_t> checksums_of_texts(const std::vector<std::string>& texts) {
  std::vector<uint32_t> checksums;
  for (const std::string& text : texts)
    checksums.push_back(static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 16)));
  return checksums;
}

std::shared_ptr<Storage> checked_storage(std::shared_ptr<Storage> file, uint64_t start,
                                         uint64_t bytes, std::vector<uint32_t> checksums,
                                         std::string array_name) {
  if (checksums.size() != (bytes + kPieceBytes - 1) / kPieceBytes)
    fail(array_name, " is damaged: it has checksums of ", checksums.size(), " pieces, expected ",
         (bytes + kPieceBytes - 1) / kPieceBytes);
  return std::make_shared<CheckedStorage>(std::move(file), start, bytes, std::move(checksums),
                                          std::move(array_name));
}

}  // namespace crescent::files
