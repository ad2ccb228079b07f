// Activations: functions of one tensor that layers apply to their results.
#pragma once
#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

/// A function of one tensor, named in configs by its lower-case name: "relu".
class CRESCENT_API Activation : public Plain {
 public:
  static constexpr const char* kKind = "activation";
  ~Activation() override;
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// Returns the class name as a string when the activation has no options, else {"class_name",
  /// "config"}; returns "linear" for null, as Keras does.
  static Value encode_option(const Activation* activation);
};

/// The activation of x; x itself when `activation` is null. The message of an exception names the
/// activation.
CRESCENT_API Tensor apply_activation(const Ref<Activation>& activation, const Tensor& x);

}  // namespace crescent
