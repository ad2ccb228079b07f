// Arrays read between their elements: what the functions that do so share.
#pragma once
#include "crescent/program/array_op_types.h"

namespace crescent {

FillMode fill_mode_named(const std::string& name);
/// 0 for the nearest element, 1 for a mean of those around.
int64_t order_named(const std::string& interpolation);

/// Elements of values (batch, elements of `dims`, channels) at coordinates (batch, points, channels
/// or 1), one tensor an axis: (batch, points, channels).
Tensor sampled(const Tensor& values, const std::vector<int64_t>& dims, const Tensors& coordinates,
               int64_t order, FillMode fill, double fill_value);
/// Images (batch, h, w, channels) at places (batch, height, width): (batch, height, width,
/// channels).
Tensor sampled_images(const Tensor& images, const Tensor& rows, const Tensor& columns,
                      int64_t order, FillMode fill, double fill_value);
/// Images as ProjectImages shows them, of any floating dtype.
Tensor projected_images(const Tensor& images, const Tensor& transforms, bool perspective,
                        int64_t order, FillMode fill, double fill_value);

}  // namespace crescent
