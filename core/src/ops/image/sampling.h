// Interpolation of arrays between their elements.
#pragma once
#include "crescent/program/array_op_types.h"

namespace crescent {

FillMode fill_mode_named(const std::string& name);
/// The spline order of an interpolation: 0 for nearest, 1 for bilinear.
int64_t order_named(const std::string& interpolation);

/// Interpolates `values`, arrays of shape `dims` whose axes are flattened to (batch, elements,
/// channels). `coordinates` has a tensor (batch, points, channels or 1) for each axis of `dims`.
/// The result has the shape (batch, points, channels).
Tensor sampled_values(const Tensor& values, const std::vector<int64_t>& dims,
                      const Tensors& coordinates, int64_t order, FillMode fill, double fill_value);
/// Interpolates images (batch, h, w, channels) at the coordinates `rows` and `columns`, each of
/// shape (batch, height, width). The result has the shape (batch, height, width, channels).
Tensor sampled_images(const Tensor& images, const Tensor& rows, const Tensor& columns,
                      int64_t order, FillMode fill, double fill_value);
/// Applies ProjectImages to images of any floating dtype.
Tensor projected_images(const Tensor& images, const Tensor& transforms, bool perspective,
                        int64_t order, FillMode fill, double fill_value);

}  // namespace crescent
