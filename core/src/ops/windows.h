// What convolution and pooling share: windows that move along spatial axes, channels last.
#pragma once
#include "program/support.h"

namespace crescent {

inline size_t spatial_of(const Shape& shape) { return static_cast<size_t>(shape.rank() - 2); }

/// Elements that a kernel covers.
inline int64_t dilated(int64_t kernel, int64_t dilation) { return (kernel - 1) * dilation + 1; }

/// Places of a window along one axis; -1 when the length is unknown, 0 when it does not fit.
int64_t places(int64_t length, int64_t window, const ConvSpec& spec, size_t axis);

/// Fails unless the spec has sound values for so many axes.
void expect_spatial(std::string_view op, const ConvSpec& spec, size_t spatial);

/// One value serves all axes.
std::vector<int64_t> per_axis(std::string_view op, std::vector<int64_t> values, size_t spatial,
                              std::string_view what);

/// Appends the padding of one axis. `same` gives ceil(length / stride) places, the odd element
/// behind.
void pad_axis(ConvSpec& spec, ops::Padding padding, int64_t length, int64_t window, int64_t stride);
/// Appends a padding of so many elements in all, the odd one behind.
void append_padding(ConvSpec& spec, int64_t total);

/// The batch of a shape where it is left open.
Shape with_batch(Shape shape, int64_t batch);

}  // namespace crescent
