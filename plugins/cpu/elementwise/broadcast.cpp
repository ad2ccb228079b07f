#include "elementwise/broadcast.h"

namespace crescent::cpu {

Broadcast::Broadcast(const Shape& input, const Shape& result, const Shape& whole_shape,
                     int64_t first)
    : first_offset_(first) {
  const int missing_axes = result.rank() - input.rank();
  // sizes and strides of the merged axes, from the innermost one
  std::array<int64_t, Shape::kMaxRank> sizes{}, strides{};
  int rank = 0;
  int64_t step = 1;
  for (int axis = result.rank() - 1; axis >= 0; --axis) {
    const int64_t n = result[axis],
                  input_size = axis >= missing_axes ? input[axis - missing_axes] : 1;
    const int64_t s = input_size == 1 ? 0 : step;
    if (axis >= missing_axes) step *= whole_shape[axis - missing_axes];
    if (n == 1) continue;
    const size_t last_index = rank - 1;
    if (rank > 0 && s == strides[last_index] * sizes[last_index]) {
      sizes[last_index] *= n;
    } else {
      sizes[rank] = n;
      strides[rank] = s;
      ++rank;
    }
  }
  rank_ = rank;
  for (int i = 0; i < rank; ++i) {
    sizes_[i] = sizes[rank - 1 - i];
    strides_[i] = strides[rank - 1 - i];
  }
}

template <class T>
void Broadcast::gather(const T* input, int64_t begin, int64_t n, T* to) const {
  if (rank_ == 0) return std::fill(to, to + n, input[first_offset_]);
  std::array<int64_t, Shape::kMaxRank> indices{};
  int64_t remaining_index = begin, offset = first_offset_;
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    const size_t i = axis;
    indices[i] = remaining_index % sizes_[i];
    remaining_index /= sizes_[i];
    offset += indices[i] * strides_[i];
  }
  const size_t last_axis = rank_ - 1;
  while (n > 0) {
    const int64_t run = std::min(sizes_[last_axis] - indices[last_axis], n);
    if (strides_[last_axis] == 0) {
      std::fill(to, to + run, input[offset]);
    } else if (strides_[last_axis] == 1) {
      std::copy(input + offset, input + offset + run, to);
    } else {
      for (int64_t i = 0; i < run; ++i) to[i] = input[offset + i * strides_[last_axis]];
    }
    to += run;
    n -= run;
    offset -= indices[last_axis] * strides_[last_axis];
    indices[last_axis] = 0;
    // the outer indices advance to the beginning of the next run
    for (size_t i = last_axis; i-- > 0;) {
      offset += strides_[i];
      if (++indices[i] < sizes_[i]) break;
      offset -= indices[i] * strides_[i];
      indices[i] = 0;
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
