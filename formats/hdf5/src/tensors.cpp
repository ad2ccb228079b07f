#include "tensors.h"

namespace crescent::hdf5 {
namespace {

/// Memory that a file reader mapped; unmapped when the last tensor of the file is gone.
class MappedStorage final : public Storage {
 public:
  MappedStorage(const Array& array, uint64_t size) : owner_(array.owner) {
    host_ = static_cast<std::byte*>(const_cast<void*>(array.bytes));
    bytes_ = size;
  }

 private:
  std::shared_ptr<const void> owner_;
};

}  // namespace

static_assert(std::size(kElements) == kDTypeCount,
              "the two lists name the same types in the same order");
DType dtype_of(Element element) {
  return static_cast<DType>(element);
}

Shape shape_of(const std::vector<uint64_t>& dims, std::string_view what) {
  if (dims.size() > Shape::kMaxRank)
    fail(what, " has ", dims.size(), " axes; at most ", Shape::kMaxRank, " are supported");
  return Shape(std::vector<int64_t>(dims.begin(), dims.end()));
}

Tensor to_tensor(const Array& array) {
  TensorSpec spec{dtype_of(array.element), shape_of(array.shape, "a dataset")};
  uint64_t size = *byte_count(array.element, array.shape);
  if (size == 0) return Tensor(spec);
  return Tensor::on(std::make_shared<MappedStorage>(array, size), 0, spec);
}

Array to_array(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const void* bytes = tensor.bytes() > 0 ? tensor.raw() : nullptr;
  return {
      static_cast<Element>(tensor.dtype()), {shape.begin(), shape.end()}, bytes, tensor.storage()};
}

}  // namespace crescent::hdf5
