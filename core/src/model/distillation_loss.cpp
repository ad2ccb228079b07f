// The base class of losses between a teacher and a student.
#include "crescent/model/distillation_loss.h"

#include "crescent/base/structure.h"

namespace crescent {
namespace {

/// A method with models as objects, since options and arguments hold models as layers.
void validate_models(const DistillationLoss& loss, const LayerPtr& teacher,
                     const LayerPtr& student) {
  const auto model_of = [](const LayerPtr& layer, const char* name) -> const Model& {
    const auto* model = dynamic_cast<const Model*>(layer.get());
    if (!model) fail(name, ": expected a model, got ", Value(layer));
    return *model;
  };
  loss.validate_model_compatibility(model_of(teacher, "teacher"), model_of(student, "student"));
}

}  // namespace

DistillationLoss::~DistillationLoss() = default;

void DistillationLoss::describe_members(Schema<DistillationLoss>& s) {
  s.method("compute_loss", &DistillationLoss::compute_loss,
           "The loss between the outputs of a teacher and of a student, as a scalar.")
      .arg("teacher_outputs", "What the teacher computed: a tensor or a structure of them.")
      .arg("student_outputs", "What the student computed for the same inputs.")
      .method("validate_outputs", &DistillationLoss::validate_outputs,
              "Fails if the loss cannot compare these outputs.")
      .arg("teacher_outputs", "What the teacher computed: a tensor or a structure of them.")
      .arg("student_outputs", "What the student computed for the same inputs.")
      .method("validate_model_compatibility", validate_models,
              "Fails if the loss does not fit the models.")
      .arg("teacher", "The model that teaches.")
      .arg("student", "The model that is trained.");
}

void DistillationLoss::validate_outputs(const Value& teacher_outputs,
                                        const Value& student_outputs) const {
  const Value teacher = structure_of(teacher_outputs), student = structure_of(student_outputs);
  if (!(teacher == student))
    fail("the outputs of teacher and student are nested differently: ", structure_text(teacher),
         " and ", structure_text(student));
}

void DistillationLoss::validate_model_compatibility(const Model&, const Model&) const {}

std::optional<std::string> DistillationLoss::teacher_layer_name() const { return std::nullopt; }
std::optional<std::string> DistillationLoss::student_layer_name() const { return std::nullopt; }

}  // namespace crescent
