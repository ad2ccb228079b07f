#include "data/file_storage.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>

#include "data/file_mapping.h"
#include "data/input_file.h"

namespace crescent {
namespace {

class FileStorage final : public Storage {
 public:
  explicit FileStorage(InputFile file) : file_(std::move(file)) { bytes_ = file_.size(); }
  void fetch(size_t offset, size_t count, void* target) const override {
    file_.read(offset, count, target);
  }
  std::string location() const override { return "'" + file_.path() + "'"; }
  const InputFile& file() const { return file_; }

  /// The mapping of the file; null if the file cannot be mapped.
  const FileMapping* mapping() const {
    std::call_once(mapping_once_, [this] { mapping_.emplace(file_.descriptor(), bytes_); });
    return mapping_ && mapping_->start() && !mapping_->is_lost() ? &*mapping_ : nullptr;
  }

 private:
  InputFile file_;
  mutable std::once_flag mapping_once_;
  mutable std::optional<FileMapping> mapping_;
};

/// A storage that converts the bytes of a file when they are read.
class ConvertedStorage final : public Storage {
 public:
  using Convert = std::function<void(std::byte* data, size_t bytes)>;
  ConvertedStorage(std::shared_ptr<Storage> file, Convert convert)
      : file_(std::move(file)), convert_(std::move(convert)) {
    bytes_ = file_->bytes();
  }
  void fetch(size_t offset, size_t count, void* target) const override {
    file_->read(offset, count, target);
    convert_(static_cast<std::byte*>(target), count);
  }
  std::string location() const override { return file_->location(); }

 private:
  std::shared_ptr<Storage> file_;
  Convert convert_;
};

/// A storage of the values of an array in a mapped file.
class MappedStorage final : public Storage {
 public:
  MappedStorage(std::shared_ptr<const FileStorage> file, const FileMapping& mapping, size_t offset,
                size_t bytes)
      : file_(std::move(file)), mapping_(mapping), end_offset_(offset + bytes) {
    host_ = mapping.start() + offset;
    bytes_ = bytes;
    expose_for_write();  // other processes may change the file at any time
  }
  void read_ahead(size_t offset, size_t count) const { mapping_.read_ahead(host_ + offset, count); }
  void check_intact() const {
    file_->file().check_reaches(end_offset_);
    if (mapping_.is_lost())
      fail("'", file_->file().path(), "' could not be read, or was changed while it was read");
  }

 private:
  std::shared_ptr<const FileStorage> file_;
  const FileMapping& mapping_;  ///< the mapping of file_
  size_t end_offset_;           ///< the offset in the file where the values end
};

const MappedStorage* mapped_storage_of(const Tensor& array) {
  return dynamic_cast<const MappedStorage*>(array.storage().get());
}

template <size_t Width>
void swap_bytes(std::byte* data, size_t bytes) {
  for (size_t i = 0; i + Width <= bytes; i += Width) std::reverse(data + i, data + i + Width);
}

}  // namespace

void swap_elements(std::byte* data, size_t bytes, size_t width) {
  if (width == 2) swap_bytes<2>(data, bytes);
  if (width == 4) swap_bytes<4>(data, bytes);
  if (width == 8) swap_bytes<8>(data, bytes);
}

void normalize_booleans(std::byte* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) data[i] = std::byte{data[i] != std::byte{0}};
}

Tensor map_array(const Tensor& file_array) {
  const auto file = std::dynamic_pointer_cast<const FileStorage>(file_array.storage());
  const FileMapping* mapping =
      file && file_array.offset() % size_of(file_array.dtype()) == 0 ? file->mapping() : nullptr;
  if (!mapping) return {};
  return Tensor::on(
      std::make_shared<MappedStorage>(file, *mapping, file_array.offset(), file_array.bytes()), 0,
      file_array.spec());
}

bool is_mapped(const Tensor& array) { return mapped_storage_of(array) != nullptr; }

void read_rows_ahead(const Tensor& array, int64_t first, int64_t count) {
  const size_t row_size = array.bytes() / static_cast<size_t>(array.dim(0));
  mapped_storage_of(array)->read_ahead(array.offset() + static_cast<size_t>(first) * row_size,
                                       static_cast<size_t>(count) * row_size);
}

void check_intact(const Tensor& array) { mapped_storage_of(array)->check_intact(); }

std::shared_ptr<Storage> file_storage(int descriptor, const std::string& path) {
  return std::make_shared<FileStorage>(InputFile(descriptor, path));
}

std::shared_ptr<Storage> swapped_storage(std::shared_ptr<Storage> file, size_t width) {
  return std::make_shared<ConvertedStorage>(
      std::move(file),
      [width](std::byte* data, size_t bytes) { swap_elements(data, bytes, width); });
}

std::shared_ptr<Storage> boolean_storage(std::shared_ptr<Storage> file) {
  return std::make_shared<ConvertedStorage>(std::move(file), normalize_booleans);
}

}  // namespace crescent
