// The kind "quantizer": classes that round numbers to integers, and configurations of the quantized
// weights of layers.
#pragma once
#include "quantized_layout.h"

namespace crescent {

class Quantizer : public Plain {
 public:
  static constexpr const char* kKind = "quantizer";
  ~Quantizer() override;
};

/// A tensor as integers and a scale: values / scale approximates the tensor.
struct Quantized {
  Tensor values, scale;
};

/// A way to round numbers to integers from `low` to `high`: the numbers are scaled so that the one
/// with the largest magnitude becomes an end of this range.
struct AbsMax {
  int64_t low = -127, high = 127;
  double epsilon = 1e-7;
  bool operator==(const AbsMax&) const = default;
  size_t hash() const;
  /// Rounds x to int8, with a scale for each combination of indices of the other axes than `axes`.
  /// The scale has size 1 along `axes`.
  Quantized operator()(const Tensor& x, const std::vector<int>& axes) const;
};
std::string to_text(const AbsMax& range);

class AbsMaxQuantizer final : public Quantizer {
 public:
  static void describe(Schema<AbsMaxQuantizer>& s);
  void configured() override;
  AbsMax range() const { return {bounds_[0], bounds_[1], epsilon_}; }
  /// Fails unless the quantizer's axes are those along which weights of the layout are summed.
  void check_axes(const QuantizedLayout& layout) const;

 private:
  std::optional<std::vector<int64_t>> axis_;
  std::vector<int64_t> bounds_{-127, 127};
  double epsilon_ = 1e-7;
  std::string dtype_ = "int8";
};

/// A configuration of how layers quantize weights and round inputs.
class QuantizationConfig : public Quantizer {
 public:
  virtual std::string mode() const = 0;  ///< such as "int4"
  /// The text before "_from_" in a dtype policy: "int4/128".
  virtual std::string quantization() const = 0;
  /// The rounding of inputs; nullopt if they stay floats.
  virtual std::optional<AbsMax> inputs() const = 0;
  /// The variables that store a quantized weight: integers, a scale, perhaps others.
  virtual QuantizedComponents parts(const QuantizedLayout& layout) const = 0;
  /// Returns the values of these variables for a weight with the values `floats`, which has the
  /// shape of the layout.
  virtual Tensors encoded(const QuantizedLayout& layout, const Tensor& floats) const = 0;
  /// The weight that the variables `parts` store: as int8 with the shape of the layout and a scale
  /// of scale_shape, or as floats without a scale.
  virtual Quantized decoded(const QuantizedLayout& layout, const Tensors& parts) const = 0;
  /// The result of the einsum equation for x and the weight that the variables `parts` store.
  virtual Tensor product(const std::string& equation, const Tensor& x,
                         const QuantizedLayout& layout, const Tensors& parts) const;
  /// The rows of a table that have the indices `ids`, as floats of type `dtype`.
  virtual Tensor rows(const QuantizedLayout& layout, const Tensors& parts, const Tensor& ids,
                      DType dtype) const = 0;
  /// The default configuration for a dtype policy such as "int4/128_from_float32".
  static std::shared_ptr<QuantizationConfig> for_policy(const DTypePolicy& policy);
};

}  // namespace crescent
