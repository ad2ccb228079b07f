#include "keras/weights/flipped_kernels.h"

#include <algorithm>
#include <cstring>

#include "crescent/ops/ops.h"

namespace crescent::keras {
namespace {

constexpr const char* kFlippedClasses[] = {"Conv1D",          "Conv2D",          "Conv3D",
                                           "Conv2DTranspose", "Conv3DTranspose", "ConvLSTM2D"};

/// Reverses all spatial axes of a kernel (spatial axes..., in, out).
Tensor flip_spatial_axes(const Tensor& kernel) {
  Tensor result(kernel.spec());
  int64_t positions = kernel.shape().slice(0, -2).size();
  size_t block_bytes = positions > 0 ? kernel.bytes() / static_cast<size_t>(positions) : 0;
  auto* source = static_cast<const std::byte*>(kernel.raw());
  auto* target = static_cast<std::byte*>(result.mutable_raw());
  for (int64_t i = 0; i < positions; ++i)
    std::memcpy(target + i * block_bytes, source + (positions - 1 - i) * block_bytes, block_bytes);
  return result;
}

/// Converts a kernel of the file to Crescent's order of axes by transposing it to `Axes`.
template <int... Axes>
constexpr FlippedKernels::KernelTransform kTransposedAxes{
    [](const Tensor& saved_kernel) { return ops::transpose(saved_kernel, {Axes...}); },
    [](const Shape& saved_shape) {
      return saved_shape.rank() == sizeof...(Axes) ? Shape{saved_shape[Axes]...} : saved_shape;
    }};

/// Converts the kernel of a one-dimensional convolution, which Keras 1 stored with two spatial
/// axes: as (positions, 1, in, out), and before version 1.2 as (out, in, positions, 1).
constexpr FlippedKernels::KernelTransform kOneSpatialAxis{
    [](const Tensor& saved_kernel) {
      return saved_kernel.dim(1) == 1 ? ops::squeeze(saved_kernel, 1)
                                      : ops::squeeze(ops::transpose(saved_kernel, {2, 3, 1, 0}), 1);
    },
    [](const Shape& saved_shape) {
      if (saved_shape.rank() != 4) return saved_shape;
      return saved_shape[1] == 1 ? Shape{saved_shape[0], saved_shape[2], saved_shape[3]}
                                 : Shape{saved_shape[2], saved_shape[1], saved_shape[0]};
    }};

/// A class whose kernels have another order of axes in Keras 1, and the conversion. `data_format`
/// is null if the order does not depend on it.
struct Keras1AxisOrder {
  const char *class_name, *data_format;
  FlippedKernels::KernelTransform transform;
};
const Keras1AxisOrder kKeras1AxisOrders[] = {
    {"Conv1D", nullptr, kOneSpatialAxis},
    {"Conv2D", "channels_first", kTransposedAxes<2, 3, 1, 0>},
    {"Conv3D", "channels_first", kTransposedAxes<2, 3, 4, 1, 0>},
    {"Conv2DTranspose", "channels_first", kTransposedAxes<2, 3, 0, 1>},
    {"Conv2DTranspose", "channels_last", kTransposedAxes<0, 1, 3, 2>}};

FlippedKernels::KernelTransform transform_of(const Layer& layer, const Origin& origin) {
  const std::string name = layer.class_name();
  if (origin.has_flipped_kernels())
    return {std::count(std::begin(kFlippedClasses), std::end(kFlippedClasses), name) > 0
                ? flip_spatial_axes
                : nullptr};
  for (const Keras1AxisOrder& row : kKeras1AxisOrders)
    if (name == row.class_name &&
        (!row.data_format || layer.get_config().at("data_format") == Value(row.data_format)))
      return row.transform;
  return {};
}

}  // namespace

/// Collects the conversions for the kernels of all convolutions, including those in nested models
/// and wrappers.
FlippedKernels::FlippedKernels(Model& model, const Origin& origin) {
  if (!origin.has_flipped_kernels() && origin.generation() > 1) return;
  for (const Layer* layer : model.flatten_layers())
    if (const KernelTransform transform = transform_of(*layer, origin); transform.convert)
      for (const Variable& weight : layer->weights())
        if (weight.shape().rank() >= 3) transforms_.emplace(weight.id(), transform);
}

FlippedKernels::KernelTransform FlippedKernels::transform_for(const Variable& variable) const {
  const auto found = variable ? transforms_.find(variable.id()) : transforms_.end();
  return found == transforms_.end() ? KernelTransform() : found->second;
}

Match::Convert FlippedKernels::conversion_of(const Variable& variable) const {
  return transform_for(variable).convert;
}

Match::ShapeOf FlippedKernels::shape_conversion_of(const Variable& variable) const {
  return transform_for(variable).shape;
}

}  // namespace crescent::keras
