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
                 std::vector<uint32_t> checksums, std::string what)
      : file_(std::move(file)),
        start_(start),
        checksums_(std::move(checksums)),
        is_verified_(checksums_.size()),
        what_(std::move(what)) {
    bytes_ = bytes;
  }

  void fetch(size_t offset, size_t count, void* target) const override {
    file_->read(start_ + offset, count, target);
    for (size_t k = offset / kPiece; k * kPiece < offset + count; ++k)
      if (!is_verified_[k].load(std::memory_order_relaxed))
        check(k, offset, count, static_cast<const std::byte*>(target));
  }
  size_t block() const override { return file_->block(); }
  std::string location() const override { return file_->location(); }

 private:
  /// Compares piece `k` with its checksum. `read` holds the bytes [offset, offset + count); a piece
  /// that extends beyond them is read from the file.
  void check(size_t k, size_t offset, size_t count, const std::byte* read) const {
    const size_t begin = k * kPiece, size = std::min<size_t>(kPiece, bytes_ - begin);
    const bool is_in_read = begin >= offset && begin + size <= offset + count;
    std::vector<std::byte> piece(is_in_read ? 0 : size);
    if (!is_in_read) file_->read(start_ + begin, size, piece.data());
    if (crc32c(is_in_read ? read + (begin - offset) : piece.data(), size) != checksums_[k])
      fail(what_, " is damaged: bytes ", begin, " to ", begin + size,
           " of it are not those that were saved");
    is_verified_[k].store(true, std::memory_order_relaxed);
  }

  std::shared_ptr<Storage> file_;
  uint64_t start_;
  std::vector<uint32_t> checksums_;
  /// Whether each piece was compared with its checksum.
  mutable std::vector<std::atomic<bool>> is_verified_;
  std::string what_;
};

}  // namespace

uint32_t joined_checksum(const std::vector<uint32_t>& checksums, uint64_t bytes) {
  uint32_t sum = crc32c(nullptr, 0);
  for (uint32_t checksum : checksums) {
    const uint64_t size = std::min(kPiece, bytes);
    sum = crc32c_joined(sum, checksum, size);
    bytes -= size;
  }
  return sum;
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
                                         std::string what) {
  if (checksums.size() != (bytes + kPiece - 1) / kPiece)
    fail(what, " is damaged: it has checksums of ", checksums.size(), " pieces, expected ",
         (bytes + kPiece - 1) / kPiece);
  return std::make_shared<CheckedStorage>(std::move(file), start, bytes, std::move(checksums),
                                          std::move(what));
}

}  // namespace crescent::files
