#include "tensors.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "crescent/base/progress.h"
#include "files/pieces.h"

namespace crescent::hdf5 {
namespace {

/// A storage in memory that a file reader mapped; the memory is unmapped when the last tensor that
/// uses it is destroyed.
class MappedStorage final : public Storage {
 public:
  MappedStorage(const Array& array, uint64_t size) : owner_(array.owner) {
    host_ = static_cast<std::byte*>(const_cast<void*>(array.bytes));
    bytes_ = size;
  }

 private:
  std::shared_ptr<const void> owner_;
};

/// The storage of a compressed dataset. When values are read, the file reader decompresses some
/// rows at a time.
class PackedStorage final : public Storage {
 public:
  PackedStorage(std::unique_ptr<FileReader> file, std::string dataset, DatasetInfo info)
      : file_(std::move(file)), dataset_(std::move(dataset)), info_(std::move(info)) {
    bytes_ = *byte_count(info_.type, info_.shape);
    row_bytes_ = bytes_ / info_.shape[0];
  }

  void fetch(size_t offset, size_t count, void* target) const override {
    const std::lock_guard lock(mutex_);
    FileProgress progress("reading", file_->path(), count);
    uint64_t rows_at_once = std::max<uint64_t>(1, FileReader::kWindowBytes / row_bytes_);
    for (auto* to = static_cast<std::byte*>(target); count > 0;) {
      uint64_t row = offset / row_bytes_, row_offset = offset % row_bytes_;
      uint64_t rows = std::min((row_offset + count + row_bytes_ - 1) / row_bytes_, rows_at_once);
      uint64_t size = std::min(count, rows * row_bytes_ - row_offset);
      std::memcpy(to, file_->read_rows(dataset_, info_, row, rows) + row_offset, size);
      if (info_.type == ElementType::boolean) normalize_booleans(to, size);
      progress.add(size);
      to += size;
      offset += size;
      count -= size;
    }
  }
  size_t block() const override { return info_.rows_per_chunk * row_bytes_; }
  std::string location() const override { return concat("'", file_->path(), "'"); }

 private:
  std::unique_ptr<FileReader> file_;
  std::string dataset_;
  DatasetInfo info_;
  uint64_t row_bytes_;  // the size of a row in bytes
  mutable std::mutex mutex_;
};

/// The checksums of the pieces (files/pieces.h) of a dataset; empty if the file has none.
std::vector<uint32_t> checksums_of(FileReader& file, const std::string& dataset,
                                   const DatasetInfo& info) {
  if (!info.checksum) return {};
  const uint64_t bytes = *byte_count(info.type, info.shape);
  if (bytes <= files::kPieceBytes) return {*info.checksum};
  const auto texts = file.texts(dataset, kPieces);
  if (!texts) return {};
  std::vector<uint32_t> checksums = files::checksums_of_texts(*texts);
  if (files::joined_checksum(checksums, bytes) != *info.checksum)
    fail("'", file.path(), "': '/", dataset, "' is damaged: its checksums contradict each other");
  return checksums;
}

}  // namespace

static_assert(std::size(kElements) == static_cast<size_t>(DType::string) &&
                  static_cast<DType>(ElementType::complex64) == DType::complex64,
              "the two lists name the same types in the same order; strings are no arrays");
DType dtype_of(ElementType type) { return static_cast<DType>(type); }

Shape shape_of(const std::vector<uint64_t>& dims, std::string_view array_label) {
  if (dims.size() > Shape::kMaxRank)
    fail(array_label, " has ", dims.size(), " axes; at most ", Shape::kMaxRank, " are supported");
  return Shape(std::vector<int64_t>(dims.begin(), dims.end()));
}

Tensor to_tensor(const Array& array) {
  TensorSpec spec{dtype_of(array.type), shape_of(array.shape, "a dataset")};
  uint64_t size = *byte_count(array.type, array.shape);
  if (size == 0) return Tensor(spec);
  return Tensor::on(std::make_shared<MappedStorage>(array, size), 0, spec);
}

Tensor tensor_in_file(std::unique_ptr<FileReader> file, const std::string& dataset) {
  DatasetInfo info = std::move(file->describe({dataset}).front());
  TensorSpec spec{dtype_of(info.type), shape_of(info.shape, "a dataset")};
  if (spec.shape.rank() == 0 || spec.shape.size() == 0)
    return to_tensor(file->read({dataset}, {info}).front());
  const uint64_t bytes = *byte_count(info.type, info.shape);
  const std::string array_label = concat("'", file->path(), "': '/", dataset, "'");
  std::vector<uint32_t> checksums = checksums_of(*file, dataset, info);
  std::shared_ptr<Storage> storage = file->contents();
  size_t start = info.file_offset.value_or(0);
  if (!info.file_offset || info.type == ElementType::boolean) {
    start = 0;
    storage = std::make_shared<PackedStorage>(std::move(file), dataset, std::move(info));
  }
  if (checksums.empty()) return Tensor::on(storage, start, spec);
  return Tensor::on(
      files::checked_storage(storage, start, bytes, std::move(checksums), array_label), 0, spec);
}

Array to_array(const Tensor& tensor) {
  if (tensor.dtype() == DType::string) fail("a tensor of strings is not written as a dataset");
  const Shape& shape = tensor.shape();
  const void* bytes = tensor.bytes() > 0 ? tensor.raw() : nullptr;
  return {static_cast<ElementType>(tensor.dtype()),
          {shape.begin(), shape.end()},
          bytes,
          tensor.storage()};
}

Node dataset_node(std::string path, const Tensor& value) {
  Node node{std::move(path), {}, to_array(value)};
  if (value.dtype() == DType::bfloat16)
    node.attributes.push_back({"dtype", std::string("bfloat16")});
  return node;
}

}  // namespace crescent::hdf5
