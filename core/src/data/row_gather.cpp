#include "data/row_gather.h"

#include <cstring>

#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "data/arrays.h"
#include "data/prefetch_row.h"

namespace crescent {
namespace {

// If there are fewer bytes to copy, a single thread copies them in less time than another thread
// needs to wake up.
constexpr size_t kSingleThreadBytes = size_t{64} << 10;

std::unique_ptr<Executable> compile_gather(const Tensor& array, const Tensor& row_indices) {
  const NoGradient no_gradient;
  const TensorSpecs specs{array.spec(), row_indices.spec()};
  return compile(optimize(trace(
      [](const Tensors& in) {
        return Tensors{apply1(Gather(), {in[0], in[1]})};
      },
      specs)));
}

}  // namespace

RowGather::RowGather(const Tensor& array, int64_t batch_size, bool in_background) : array_(array) {
  const bool is_small = static_cast<size_t>(batch_size) * row_bytes(array) < kSingleThreadBytes;
  const bool is_on_host = !array.storage()->memory() && !device().memory();
  if (in_background || is_small || batch_size > array.dim(0) || !is_on_host) return;
  row_indices_ = Tensor::uninitialized({DType::int64, {batch_size}});
  batch_gather_ = compile_gather(array, row_indices_);
}

void RowGather::operator()(std::span<const int64_t> row_indices, const RowRange& rows_to_read,
                           Tensor& target) {
  if (array_.storage()->memory()) {
    const NoGradient no_gradient;
    target = apply1(
        Gather(), {array_, Tensor::from(row_indices, {static_cast<int64_t>(row_indices.size())})});
    return;
  }
  if (!batch_gather_ || row_indices.size_bytes() != row_indices_.bytes()) {
    const auto first = static_cast<size_t>(rows_to_read.first),
               count = static_cast<size_t>(rows_to_read.count);
    auto* target_bytes = static_cast<std::byte*>(target.mutable_raw());
    return copy(row_indices.subspan(first, count), target_bytes + first * row_bytes(array_));
  }
  std::memcpy(row_indices_.mutable_raw(), row_indices.data(), row_indices.size_bytes());
  batch_gather_->run(std::array{array_, row_indices_}, {}, std::span(&target, 1));
}

void RowGather::copy(std::span<const int64_t> row_indices, std::byte* target) const {
  const size_t row_size = row_bytes(array_);
  const auto* source_bytes = static_cast<const std::byte*>(array_.raw());
  for (size_t i = 0; i < row_indices.size(); ++i) {
    if (i + 2 < row_indices.size())
      prefetch_row(source_bytes + static_cast<size_t>(row_indices[i + 2]) * row_size, row_size);
    std::memcpy(target + i * row_size,
                source_bytes + static_cast<size_t>(row_indices[i]) * row_size, row_size);
  }
}

}  // namespace crescent
