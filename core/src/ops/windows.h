// Helpers of convolution and pooling, whose windows move along spatial axes; channels are last.
#pragma once
#include "program/support.h"

namespace crescent {

inline size_t spatial_of(const Shape& shape) { return static_cast<size_t>(shape.rank() - 2); }

/// The number of elements that a kernel spans.
inline int64_t dilated(int64_t kernel, int64_t dilation) { return (kernel - 1) * dilation + 1; }

/// The number of window positions along one axis; -1 if the length is unknown, 0 if the window does
/// not fit.
int64_t places(int64_t length, int64_t window, const ConvSpec& spec, size_t axis);

/// Fails unless the spec has valid values for this number of spatial axes.
void expect_spatial(std::string_view op, const ConvSpec& spec, size_t spatial);

/// One value per axis; a single value is used for all axes.
std::vector<int64_t> per_axis(std::string_view op, std::vector<int64_t> values, size_t spatial,
                              std::string_view what);

/// Appends the padding of one axis. `same` gives ceil(length / stride) positions; an odd element is
/// added at the end.
void pad_axis(ConvSpec& spec, ops::Padding padding, int64_t length, int64_t window, int64_t stride);
/// Appends a padding of `total` elements, an odd one at the end.
void append_padding(ConvSpec& spec, int64_t total);

/// The shape with its batch dimension, if unknown, replaced by `batch`.
Shape with_batch(Shape shape, int64_t batch);

}  // namespace crescent
