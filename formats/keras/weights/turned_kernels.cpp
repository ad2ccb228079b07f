#include "keras/weights/turned_kernels.h"

#include <algorithm>
#include <cstring>

namespace crescent::keras {
namespace {

constexpr const char* kTurned[] = {"Conv1D",          "Conv2D",          "Conv3D",
                                   "Conv2DTranspose", "Conv3DTranspose", "ConvLSTM2D"};

/// (positions, in, out) with the positions backwards: all spatial axes reversed.
Tensor turned_around(const Tensor& kernel) {
  Tensor result(kernel.spec());
  int64_t positions = kernel.shape().slice(0, -2).size();
  size_t block = positions > 0 ? kernel.bytes() / static_cast<size_t>(positions) : 0;
  auto* from = static_cast<const std::byte*>(kernel.raw());
  auto* to = static_cast<std::byte*>(result.mutable_raw());
  for (int64_t i = 0; i < positions; ++i)
    std::memcpy(to + i * block, from + (positions - 1 - i) * block, block);
  return result;
}

}  // namespace

/// Variables whose own layer (inside models and wrappers too) is a convolution.
TurnedKernels::TurnedKernels(Model& model, const Origin& origin) {
  if (!origin.turned_kernels()) return;
  for (const Layer* layer : model.flatten_layers()) {
    const std::string name = layer->class_name();
    if (std::find(std::begin(kTurned), std::end(kTurned), name) == std::end(kTurned)) continue;
    for (const Variable& weight : layer->weights())
      if (weight.shape().rank() >= 3) variables_.insert(weight.id());
  }
}

Match::Convert TurnedKernels::convert(const Variable& variable) const {
  return variable && variables_.contains(variable.id()) ? turned_around : nullptr;
}

}  // namespace crescent::keras
