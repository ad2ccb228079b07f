// Arrays read between their elements: what the operations that do so share.
#pragma once
#include "../../shared/shared.h"

namespace crescent::operations {

/// What is beyond the edges.
enum class Fill : uint8_t { constant, nearest, wrap, mirror, reflect };
Fill fill_named(const std::string& name);
/// 0 for the nearest element, 1 for a mean of those around.
int64_t order_named(const std::string& interpolation);

/// Elements of values (batch, elements of `dims`, channels) at coordinates (batch, points, channels
/// or 1), one tensor an axis: (batch, points, channels).
Tensor sampled(const Tensor& values, const std::vector<int64_t>& dims, const Tensors& coordinates,
               int64_t order, Fill fill, double fill_value);
/// Images (batch, h, w, channels) at places (batch, height, width): (batch, height, width,
/// channels).
Tensor sampled_images(const Tensor& images, const Tensor& rows, const Tensor& columns,
                      int64_t order, Fill fill, double fill_value);
/// Images (batch, h, w, channels) of which each place (x, y) shows what is at (a0 x + a1 y + a2,
/// b0 x + b1 y + b2), for transforms a0 a1 a2 b0 b1 b2 c0 c1 (batch or 1, 8): in perspective over
/// c0 x + c1 y + 1, else moved by c1 and c0 times the channel's number, as Keras has it.
Tensor projected_images(const Tensor& images, const Tensor& transforms, bool perspective,
                        int64_t order, Fill fill, double fill_value);

}  // namespace crescent::operations
