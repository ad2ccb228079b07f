// The kind "quantizer": rounding of numbers to integers, and configurations of quantized weights of
// layers.
#pragma once
#include "quantized_layout.h"

namespace crescent {

class Quantizer : public Plain {
 public:
  static constexpr const char* kKind = "quantizer";
  ~Quantizer() override;
};

/// Integers, and the scale by which they are divided.
struct Quantized {
  Tensor values, scale;
};

/// Rounding by which the largest magnitude becomes the end of a range of integers.
struct AbsMax {
  int64_t low = -127, high = 127;
  double epsilon = 1e-7;
  bool operator==(const AbsMax&) const = default;
  size_t hash() const;
  /// Rounds x to int8; the scale has size 1 along the reduced axes.
  Quantized operator()(const Tensor& x, const std::vector<int>& axes) const;
};
std::string to_text(const AbsMax& range);

class AbsMaxQuantizer final : public Quantizer {
 public:
  static void describe(Schema<AbsMaxQuantizer>& s);
  void configured() override;
  AbsMax range() const { return {bounds_[0], bounds_[1], epsilon_}; }
  /// Fails unless its axes are those along which weights of the layout are summed.
  void check_axes(const QuantizedLayout& layout) const;

 private:
  std::optional<std::vector<int64_t>> axis_;
  std::vector<int64_t> bounds_{-127, 127};
  double epsilon_ = 1e-7;
  std::string dtype_ = "int8";
};

/// The configuration of quantized weights, and of the rounding of inputs.
class QuantizationConfig : public Quantizer {
 public:
  virtual std::string mode() const = 0;  ///< "int4"
  /// The text before "_from_" in a dtype policy: "int4/128".
  virtual std::string quantization() const = 0;
  /// The rounding of inputs; nullopt: they stay floats.
  virtual std::optional<AbsMax> inputs() const = 0;
  /// The variables of a quantized weight: integers, a scale, perhaps others.
  virtual QuantizedComponents parts(const QuantizedLayout& layout) const = 0;
  /// The values of these variables for floats with the shape of the layout.
  virtual Tensors encoded(const QuantizedLayout& layout, const Tensor& floats) const = 0;
  /// The weight as int8 with the shape of the layout and a scale of scale_shape, or as floats
  /// without a scale.
  virtual Quantized decoded(const QuantizedLayout& layout, const Tensors& parts) const = 0;
  /// Rows of a table as this dtype.
  virtual Tensor rows(const QuantizedLayout& layout, const Tensors& parts, const Tensor& ids,
                      DType dtype) const = 0;
  /// The default configuration of a policy such as "int4/128".
  static std::shared_ptr<QuantizationConfig> for_policy(const DTypePolicy& policy);
};

}  // namespace crescent
