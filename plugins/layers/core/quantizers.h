// What makes integers of numbers, and configurations that say how layers keep weights: kind
// "quantizer".
#pragma once
#include "quantized_layout.h"

namespace crescent {

class Quantizer : public Plain {
 public:
  static constexpr const char* kKind = "quantizer";
  ~Quantizer() override;
};

/// Integers, and what to divide them by.
struct Quantized {
  Tensor values, scale;
};

/// Largest magnitudes become the end of a range of integers.
struct AbsMax {
  int64_t low = -127, high = 127;
  double epsilon = 1e-7;
  bool operator==(const AbsMax&) const = default;
  size_t hash() const;
  /// int8 of x's shape; the scale has 1 where it was reduced.
  Quantized operator()(const Tensor& x, const std::vector<int>& axes) const;
};
std::string to_text(const AbsMax& range);

class AbsMaxQuantizer final : public Quantizer {
 public:
  static void describe(Schema<AbsMaxQuantizer>& s);
  void configured() override;
  AbsMax range() const { return {bounds_[0], bounds_[1], epsilon_}; }
  /// Fails unless it is for weights that are summed along these axes.
  void check_axes(const QuantizedLayout& layout) const;

 private:
  std::optional<std::vector<int64_t>> axis_;
  std::vector<int64_t> bounds_{-127, 127};
  double epsilon_ = 1e-7;
  std::string dtype_ = "int8";
};

/// How a layer keeps its weights, and what it multiplies them with.
class QuantizationConfig : public Quantizer {
 public:
  virtual std::string mode() const = 0;  ///< "int4"
  /// What a dtype policy has in front of "_from_": "int4/128".
  virtual std::string quantization() const = 0;
  /// Of inputs before they are multiplied; nothing: they stay floats.
  virtual std::optional<AbsMax> inputs() const = 0;
  /// The variables that a weight is kept in: integers, a scale, perhaps more.
  virtual QuantizedComponents parts(const QuantizedLayout& layout) const = 0;
  /// Their values for floats of the layout's shape.
  virtual Tensors encoded(const QuantizedLayout& layout, const Tensor& floats) const = 0;
  /// int8 of the layout's shape with a scale of scale_shape, or floats without one.
  virtual Quantized decoded(const QuantizedLayout& layout, const Tensors& parts) const = 0;
  /// Rows of a table as floats of this dtype.
  virtual Tensor rows(const QuantizedLayout& layout, const Tensors& parts, const Tensor& ids,
                      DType dtype) const = 0;
  /// The mode's own, for a policy such as "int4/128".
  static std::shared_ptr<QuantizationConfig> for_policy(const DTypePolicy& policy);
};

}  // namespace crescent
