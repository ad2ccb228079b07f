#include "elementwise/broadcast.h"

namespace crescent::cpu {

Broadcast::Broadcast(const Shape& input, const Shape& result, const Shape& whole, int64_t first)
    : first_(first) {
  const int missing_axes = result.rank() - input.rank();
  // sizes and strides of the merged axes, from the innermost one
  std::array<int64_t, Shape::kMaxRank> size{}, stride{};
  int rank = 0;
  int64_t step = 1;
  for (int axis = result.rank() - 1; axis >= 0; --axis) {
    const int64_t n = result[axis], own = axis >= missing_axes ? input[axis - missing_axes] : 1;
    const int64_t s = own == 1 ? 0 : step;
    if (axis >= missing_axes) step *= whole[axis - missing_axes];
    if (n == 1) continue;
    const size_t last = rank - 1;
    if (rank > 0 && s == stride[last] * size[last]) {
      size[last] *= n;
    } else {
      size[rank] = n;
      stride[rank] = s;
      ++rank;
    }
  }
  rank_ = rank;
  for (int i = 0; i < rank; ++i) {
    size_[i] = size[rank - 1 - i];
    stride_[i] = stride[rank - 1 - i];
  }
}

template <class T>
void Broadcast::gather(const T* input, int64_t begin, int64_t n, T* to) const {
  if (rank_ == 0) return std::fill(to, to + n, input[first_]);
  std::array<int64_t, Shape::kMaxRank> at{};
  int64_t remaining = begin, offset = first_;
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    const size_t i = axis;
    at[i] = remaining % size_[i];
    remaining /= size_[i];
    offset += at[i] * stride_[i];
  }
  const size_t inner = rank_ - 1;
  while (n > 0) {
    const int64_t run = std::min(size_[inner] - at[inner], n);
    if (stride_[inner] == 0) {
      std::fill(to, to + run, input[offset]);
    } else if (stride_[inner] == 1) {
      std::copy(input + offset, input + offset + run, to);
    } else {
      for (int64_t i = 0; i < run; ++i) to[i] = input[offset + i * stride_[inner]];
    }
    to += run;
    n -= run;
    offset -= at[inner] * stride_[inner];
    at[inner] = 0;
    // the outer indices advance to the beginning of the next run
    for (size_t i = inner; i-- > 0;) {
      offset += stride_[i];
      if (++at[i] < size_[i]) break;
      offset -= at[i] * stride_[i];
      at[i] = 0;
    }
  }
}

void Broadcast::gather(const std::byte* input, size_t bytes, int64_t begin, int64_t n,
                       std::byte* to) const {
  switch (bytes) {
    case 1:
      return gather(reinterpret_cast<const uint8_t*>(input), begin, n,
                    reinterpret_cast<uint8_t*>(to));
    case 2:
      return gather(reinterpret_cast<const uint16_t*>(input), begin, n,
                    reinterpret_cast<uint16_t*>(to));
    case 4:
      return gather(reinterpret_cast<const uint32_t*>(input), begin, n,
                    reinterpret_cast<uint32_t*>(to));
    default:
      return gather(reinterpret_cast<const uint64_t*>(input), begin, n,
                    reinterpret_cast<uint64_t*>(to));
  }
}

}  // namespace crescent::cpu
