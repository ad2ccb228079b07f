// DistillationLoss: what a student model loses against its teacher. A Distiller (a model of the
// plugin distillation) trains a student with one or several of them.
#pragma once
#include <optional>
#include <string>

#include "crescent/model/model.h"

namespace crescent {

/// A loss between what a teacher and a student computed for the same inputs. Outputs are boxed
/// tensors, nested as the outputs of the models are: one tensor, a list, or a dictionary.
class CRESCENT_API DistillationLoss : public Plain {
 public:
  static constexpr const char* kKind = "distillation_loss";
  ~DistillationLoss() override;
  static void describe_members(Schema<DistillationLoss>& s);

  /// Returns a scalar.
  virtual Tensor compute_loss(const Value& teacher_outputs, const Value& student_outputs) const = 0;
  /// Fails if the loss cannot compare these outputs. By default they must be nested alike.
  virtual void validate_outputs(const Value& teacher_outputs, const Value& student_outputs) const;
  /// Fails if the loss does not fit these models. By default it fits all models.
  virtual void validate_model_compatibility(const Model& teacher, const Model& student) const;
  /// The layers whose outputs are compared; nullopt: the outputs of the models.
  virtual std::optional<std::string> teacher_layer_name() const;
  virtual std::optional<std::string> student_layer_name() const;
};

}  // namespace crescent
