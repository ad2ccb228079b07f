// Products with weights of 8 bits.
#pragma once
#include <optional>
#include <string>

#include "equation.h"
#include "quantizers.h"

namespace crescent {

/// (x, int8 values, scale) -> einsum(equation, x, values) / scale, whose axes are the last of the
/// result's. Rounded inputs are integers as well, with scales along the axes that are summed; the
/// sums are exact then. The gradient is that of the same product of floats.
struct QuantizedProduct final : OpOf<QuantizedProduct> {
  static constexpr const char* kName = "quantized_product";
  std::string equation;
  bool rounds = false;
  AbsMax range;
  auto fields() const { return std::tie(equation, rounds, range); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override;
  Tensors decompose(std::span<const Tensor> inputs) const override;
  Tensors vjp(const Vjp& v) const override;
  std::string label() const override { return "quantized product"; }
};

/// The equation of a product along the last axis of x and the first of the weight, or the second.
inline constexpr const char *kLastByFirst = "...a,ab->...b", *kLastBySecond = "...a,ba->...b";

/// `inputs`: how x is rounded; nothing: not at all.
Tensor quantized_product(const std::string& equation, const Tensor& x, const Tensor& values,
                         const Tensor& scale, const std::optional<AbsMax>& inputs);

}  // namespace crescent
