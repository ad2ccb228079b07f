// Products with weights of 8 bits.
#pragma once
#include <optional>
#include <string>

#include "equation.h"
#include "quantizers.h"

namespace crescent {

/// The op (x, int8 values, scale) -> einsum(equation, x, values) / scale, where the axes of the
/// scale are the last axes of the result. The input x may also be rounded to integers, with scales
/// for each combination of the other axes, so that sums are exact. The gradient is that of the
/// product of floats.
struct QuantizedProduct final : OpOf<QuantizedProduct> {
  static constexpr const char* kName = "quantized_product";
  std::string equation;
  bool rounds_input = false;
  AbsMax range;
  auto fields() const { return std::tie(equation, rounds_input, range); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override;
  Tensors decompose(std::span<const Tensor> inputs) const override;
  Tensors vjp(const Vjp& v) const override;
  std::string label() const override { return "quantized product"; }
};

/// The equations of products that sum over the last axis of x and the first axis, or the second
/// axis, of the weight.
inline constexpr const char *kLastByFirst = "...a,ab->...b", *kLastBySecond = "...a,ba->...b";

/// Applies the op QuantizedProduct. `input_rounding` says how x is rounded; if it is nullopt, x is
/// not rounded.
Tensor quantized_product(const std::string& equation, const Tensor& x, const Tensor& values,
                         const Tensor& scale, const std::optional<AbsMax>& input_rounding);
/// The product of x and the weight that variables with the values `component_values` store.
Tensor product_of_decoded(const QuantizationConfig& config, const std::string& equation,
                          const Tensor& x, const QuantizedLayout& layout,
                          const Tensors& component_values);

}  // namespace crescent
