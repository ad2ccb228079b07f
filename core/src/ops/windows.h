// Helpers of convolution and pooling, whose windows move along spatial axes; channels are last.
#pragma once
#include "program/support.h"

namespace crescent {

/// The number of spatial axes.
inline size_t spatial_rank(const Shape& shape) { return static_cast<size_t>(shape.rank() - 2); }

/// The number of elements from the first to the last that a dilated kernel of this size reads.
inline int64_t dilated_size(int64_t kernel_size, int64_t dilation) {
  return (kernel_size - 1) * dilation + 1;
}

/// The number of positions of a window along one axis; -1 if the length is unknown, 0 if the window
/// does not fit.
int64_t window_count(int64_t length, int64_t window, const ConvSpec& spec, size_t axis);

/// Fails unless the spec has valid values for this number of spatial axes.
void expect_spatial(std::string_view op, const ConvSpec& spec, size_t axis_count);

/// Returns one value for each axis; a single value is used for all axes.
std::vector<int64_t> per_axis(std::string_view op, std::vector<int64_t> values, size_t axis_count,
                              std::string_view what);

/// Appends the padding of one axis. `same` gives ceil(length / stride) positions of the window; if
/// the number of padding elements is odd, the end gets one more than the beginning.
void pad_axis(ConvSpec& spec, ops::Padding padding, int64_t length, int64_t window, int64_t stride);
/// Appends a padding of `padding_sum` elements in all; if the number is odd, the end gets one more
/// than the beginning.
void append_padding(ConvSpec& spec, int64_t padding_sum);

/// The geometry of a convolution with one group, whose images and kernel have these shapes.
ConvSpec conv_spec(const Shape& x, const Shape& kernel, std::vector<int64_t> strides,
                   ops::Padding padding, std::vector<int64_t> dilation);

/// The shape with `batch` in place of an unknown batch size.
Shape with_batch(Shape shape, int64_t batch);

}  // namespace crescent
