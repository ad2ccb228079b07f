// Losses: functions whose value training minimizes.
#pragma once
#include <optional>
#include <string>

#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Makes the ranks equal as Keras does, if they differ by one and the last axis of the longer shape
/// has size 1: drops this axis or, if the other tensor is a vector, adds such an axis to the
/// vector.
CRESCENT_API void match_ranks(Tensor& a, Tensor& b);

/// A loss function with a reduction from losses per sample to one number. The rules are those of
/// Keras 3: sum_over_batch_size divides by the number of loss elements; with a mask the mean is
/// over valid elements.
class CRESCENT_API Loss : public Configurable {
 public:
  static constexpr const char* kKind = "loss";
  ~Loss() override;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.template base<Loss>(describe_options);
  }
  static void describe_members(Schema<Loss>& s);
  static Value encode_option(const Configurable* object) { return serialize(object); }

  /// Returns the loss per sample: y_true, y_pred (batch, ..., d) -> (batch, ...). y_true may have
  /// an extra last axis of size 1 or lack the last axis.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) const = 0;
  /// Returns a scalar (or the loss per sample for "none"). sample_weight broadcasts over the
  /// trailing axes; a mask of y_pred is multiplied into the weights.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;
  /// Whether targets are class indices; if so, the metric "accuracy" stands for
  /// sparse_categorical_accuracy.
  virtual bool sparse_targets() const { return false; }
  /// Whether the loss is a binary cross-entropy; if so, the metric "accuracy" stands for
  /// binary_accuracy.
  virtual bool binary_targets() const { return false; }
  /// The name in logs; if it is empty, logs use the class name in snake case.
  const std::string& name() const { return name_; }

 protected:
  std::optional<std::string> reduction_ = "sum_over_batch_size";  ///< null: "none"
  std::string name_;
  std::optional<DType> dtype_;

 private:
  static void describe_options(Schema<Loss>& s);
};

}  // namespace crescent
