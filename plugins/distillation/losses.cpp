// LogitsDistillation compares the outputs of two models, FeatureDistillation those of layers in
// them.
#include "crescent/model/distillation_loss.h"
#include "crescent/ops/ops.h"
#include "crescent/registry/registration.h"
#include "loss_structure.h"

namespace crescent {
namespace {

class LogitsDistillation final : public DistillationLoss {
 public:
  static void describe(Schema<LogitsDistillation>& s) {
    s.doc(
         "The loss between the logits of a teacher and of a student, both divided by a "
         "temperature: loss(teacher / temperature, student / temperature). An object "
         "KLDivergence compares their softmax and is multiplied by temperature ** 2.")
        .field("temperature", &LogitsDistillation::temperature_,
               "What logits are divided by; larger values give softer probabilities.")
        .field("loss", &LogitsDistillation::loss_,
               "The loss: a name, which stands for the function of the loss, so that logits are "
               "compared as they are, or an object; for several outputs a structure of them, false "
               "where an output has none.")
        .kind(Loss::kKind);
  }
  void configured() override {
    if (!has_loss(loss_.losses)) fail("At least one loss must be non-`None`.");
    if (temperature_ <= 0) fail("temperature must be positive.");
  }
  Tensor compute_loss(const Value& teacher_outputs, const Value& student_outputs) const override {
    return sum_of_losses(
        loss_, teacher_outputs, student_outputs,
        [this](const OutputLoss& loss, const Tensor& teacher, const Tensor& student) {
          const Tensor teacher_logits = teacher / temperature_,
                       student_logits = student / temperature_;
          if (loss.is_function || loss.loss->class_name() != "KLDivergence")
            return loss(teacher_logits, student_logits);
          return loss(ops::softmax(teacher_logits), ops::softmax(student_logits)) *
                 (temperature_ * temperature_);
        });
  }

 private:
  double temperature_ = 3.0;
  LossStructure loss_{"kl_divergence"};
};

/// The layer with this name; `role` begins the message if there is none.
void expect_layer(const Model& model, const std::optional<std::string>& name, const char* role) {
  if (!name) return;
  try {
    model.get_layer(*name);
  } catch (Error& error) {
    error.add_context(role);
    throw;
  }
}

class FeatureDistillation final : public DistillationLoss {
 public:
  static void describe(Schema<FeatureDistillation>& s) {
    s.doc(
         "The loss between what a layer of a teacher and a layer of a student compute: "
         "loss(teacher, student). Without names of layers, the outputs of the models are "
         "compared.")
        .field("loss", &FeatureDistillation::loss_,
               "The loss, a name or an object; for several outputs a structure of them, false "
               "where an output has none.")
        .kind(Loss::kKind)
        .field("teacher_layer_name", &FeatureDistillation::teacher_layer_name_,
               "The name of the teacher's layer; null: the output of the teacher.")
        .field("student_layer_name", &FeatureDistillation::student_layer_name_,
               "The name of the student's layer; null: the output of the student.");
  }
  void configured() override {
    if (!has_loss(loss_.losses))
      fail(
          "The `loss` argument in `FeatureDistillation` must contain at least one non-`None` "
          "value.");
  }
  std::optional<std::string> teacher_layer_name() const override { return teacher_layer_name_; }
  std::optional<std::string> student_layer_name() const override { return student_layer_name_; }

  void validate_model_compatibility(const Model& teacher, const Model& student) const override {
    if (!teacher_layer_name_ && !student_layer_name_) return;
    if (!teacher.is_graph() || !student.is_graph())
      fail(
          "FeatureDistillation with specific layer names requires Functional or Sequential models "
          "with known inputs. The ",
          teacher.is_graph()   ? "student"
          : student.is_graph() ? "teacher"
                               : "teacher and student",
          " model(s) appear to be subclassed (no symbolic inputs/outputs). Either use "
          "Functional/Sequential models, or use FeatureDistillation without layer names (to "
          "distill final outputs only), or use LogitsDistillation instead.");
    expect_layer(teacher, teacher_layer_name_, "In teacher model: ");
    expect_layer(student, student_layer_name_, "In student model: ");
  }
  void validate_outputs(const Value& teacher_outputs, const Value& student_outputs) const override {
    DistillationLoss::validate_outputs(teacher_outputs, student_outputs);
    expect_same_nesting(loss_.losses, teacher_outputs);
  }
  Tensor compute_loss(const Value& teacher_outputs, const Value& student_outputs) const override {
    return sum_of_losses(loss_, teacher_outputs, student_outputs,
                         [](const OutputLoss& loss, const Tensor& teacher, const Tensor& student) {
                           return loss(teacher, student);
                         });
  }

 private:
  LossStructure loss_{"mse"};
  std::optional<std::string> teacher_layer_name_, student_layer_name_;
};

}  // namespace

CRESCENT_REGISTER(losses) {
  registry.add<FeatureDistillation>("FeatureDistillation");
  registry.add<LogitsDistillation>("LogitsDistillation");
}

}  // namespace crescent
