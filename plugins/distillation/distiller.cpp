// Distiller trains a student model by targets and by what a teacher model computes.
#include <algorithm>

#include "crescent/base/structure.h"
#include "crescent/model/distillation_loss.h"
#include "crescent/model/steps.h"
#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "crescent/registry/registration.h"

namespace crescent {

/// The option distillation_losses: a loss or a list of losses.
struct DistillationLosses {
  std::vector<std::shared_ptr<DistillationLoss>> losses;
  bool is_list = false;
};
CRESCENT_CODEC(DistillationLosses);

DistillationLosses Codec<DistillationLosses>::decode(const Value& value) {
  DistillationLosses result;
  result.is_list = value.is_list();
  for (const Value& item : result.is_list ? value.as_list() : List{value}) {
    result.losses.push_back(get<DistillationLoss>(item));
    if (!result.losses.back()) fail("expected ", type(), ", got ", value);
  }
  return result;
}
Value Codec<DistillationLosses>::encode(const DistillationLosses& member) {
  List list;
  for (const auto& loss : member.losses) list.push_back(serialize(loss.get()));
  return list;
}
std::string Codec<DistillationLosses>::type() {
  return "a distillation loss (such as LogitsDistillation or FeatureDistillation) or a list of "
         "them";
}

namespace {

using LayerName = std::optional<std::string>;

Value nested(const Tensors& tensors, const Value& structure) {
  List leaves;
  for (const Tensor& tensor : tensors) leaves.push_back(Codec<Tensor>::encode(tensor));
  if (!structure.is_null()) return packed(structure, leaves);
  return leaves.size() == 1 ? leaves.front() : Value(leaves);
}

/// Computes the outputs of a model and of layers in it by one call of a graph.
class FeatureExtractor {
 public:
  FeatureExtractor() = default;
  FeatureExtractor(const Model& model, std::vector<std::string> layer_names)
      : layer_names_(std::move(layer_names)), structure_(model.structures().outputs) {
    if (layer_names_.empty()) return;
    if (!model.is_graph())
      fail("Cannot create feature extractor for ", model.name(),
           ". The model has no symbolic inputs attribute.");
    std::vector<Symbol> outputs = model.outputs();
    output_ends_.push_back(outputs.size());
    for (const std::string& name : layer_names_) {
      const std::vector<Symbol> layer_outputs = model.get_layer(name)->output();
      outputs.insert(outputs.end(), layer_outputs.begin(), layer_outputs.end());
      output_ends_.push_back(outputs.size());
    }
    graph_ = Functional::make(model.inputs(), outputs, model.name() + "_multi_feature_extractor",
                              true, {model.structures().inputs, {}});
  }
  /// Whether there are layers whose outputs are needed.
  explicit operator bool() const { return graph_ != nullptr; }
  Tensors operator()(const Tensors& x, bool training) const {
    return (*graph_)(x, {.training = training});
  }
  /// The outputs of the layer among the results of a call, or those of the model, nested.
  Value features(const Tensors& results, const LayerName& layer_name) const {
    const auto found_name = layer_name
                                ? std::find(layer_names_.begin(), layer_names_.end(), *layer_name)
                                : layer_names_.end();
    const bool is_layer = found_name != layer_names_.end();
    const size_t index = is_layer ? static_cast<size_t>(found_name - layer_names_.begin()) + 1 : 0;
    const auto begin = results.begin();
    const size_t first = index == 0 ? 0 : output_ends_[index - 1];
    return nested(Tensors(begin + static_cast<std::ptrdiff_t>(first),
                          begin + static_cast<std::ptrdiff_t>(output_ends_[index])),
                  is_layer ? Value() : structure_);
  }

 private:
  std::vector<std::string> layer_names_;
  Value structure_;                  ///< how the outputs of the model are nested
  std::vector<size_t> output_ends_;  ///< where the results of the model and of each layer end
  std::shared_ptr<Functional> graph_;
};

const Model& model_in(const Ref<Layer>& option, const char* role) {
  const auto* model = dynamic_cast<const Model*>(option.get());
  if (!model) fail(role, " must be a keras.Model, got ", Value(option.shared()));
  return *model;
}

void expect_compatible(const std::vector<Symbol>& teacher, const std::vector<Symbol>& student,
                       const char* context) {
  if (teacher.size() != student.size())
    fail("Teacher and student have different numbers of ", context, "s: ", teacher.size(), " and ",
         student.size(), ".");
  for (size_t i = 0; i < teacher.size(); ++i) {
    const Shape &a = teacher[i].shape(), &b = student[i].shape();
    if (a.rank() != b.rank())
      fail("Teacher and student ", context, " shapes have different dimensions. Teacher: ", a,
           ", Student: ", b, ".");
    for (int axis = 0; axis < a.rank(); ++axis)
      if (a[axis] >= 0 && b[axis] >= 0 && a[axis] != b[axis])
        fail("Teacher and student ", context, " shapes are incompatible. Teacher: ", a,
             ", Student: ", b, ". All dimensions must match.");
  }
}

void expect_same_dtypes(const std::vector<Symbol>& teacher, const std::vector<Symbol>& student,
                        const char* context) {
  for (size_t i = 0; i < teacher.size(); ++i)
    if (teacher[i].dtype() != student[i].dtype())
      fail("Teacher and student ", context,
           " dtypes must match. Teacher: ", name_of(teacher[i].dtype()),
           ", Student: ", name_of(student[i].dtype()), ".");
}

void expect_compatible(const Model& teacher, const Model& student) {
  if (!teacher.is_graph() || !student.is_graph()) return;
  expect_compatible(teacher.inputs(), student.inputs(), "input");
  expect_compatible(teacher.outputs(), student.outputs(), "output");
  expect_same_dtypes(teacher.inputs(), student.inputs(), "input");
  expect_same_dtypes(teacher.outputs(), student.outputs(), "output");
}

class Distiller final : public Model, public Steps {
 public:
  static void describe(Schema<Distiller>& s) {
    s.doc(
         "Trains a student by targets and by a teacher, whose weights are frozen. The loss is "
         "student_loss_weight * (the loss of compile) + (1 - student_loss_weight) * (the weighted "
         "sum of the distillation losses); sample weights and losses that layers add have no part "
         "in it. A call is a call of the student. compile needs a loss, and its optimizer is "
         "\"adam\" by default.")
        .field("teacher", &Distiller::teacher_, "The trained model.")
        .required()
        .field("student", &Distiller::student_, "The model that is trained.")
        .required()
        .field("distillation_losses", &Distiller::losses_,
               "The losses between teacher and student: LogitsDistillation, FeatureDistillation "
               "or objects of a class derived from DistillationLoss.")
        .kind(DistillationLoss::kKind)
        .required()
        .field("distillation_loss_weights", &Distiller::loss_weights_,
               "The weight of each loss in a list of losses; null: 1. A loss that is not in a list "
               "has weight 1.")
        .field("student_loss_weight", &Distiller::student_loss_weight_,
               "The weight of the loss of compile, between 0 and 1.")
        .property(
            "teacher", [](Distiller& d) { return d.teacher_.shared(); }, "The trained model.")
        .property(
            "student", [](Distiller& d) { return d.student_.shared(); },
            "The model that is trained.")
        .property(
            "distillation_losses", [](Distiller& d) { return d.losses_.losses; },
            "The losses between teacher and student.")
        .property(
            "distillation_loss_weights", [](Distiller& d) { return *d.loss_weights_; },
            "The weights of these losses.")
        .property(
            "student_loss_weight", [](Distiller& d) { return d.student_loss_weight_; },
            "The weight of the loss of compile.")
        .property("student_loss_tracker", &Distiller::student_tracker_,
                  "The mean over batches of the loss of compile.")
        .property("distillation_loss_tracker", &Distiller::distillation_tracker_,
                  "The mean over batches of the weighted sum of the distillation losses.")
        .property("total_loss_tracker", &Distiller::total_tracker_,
                  "The mean over batches of the loss.");
  }

  void configured() override {
    if (name_.empty()) name_ = "distiller";
    Model::configured();
    const Model &teacher = model_in(teacher_, "Teacher"), &student = model_in(student_, "Student");
    expect_compatible(teacher, student);
    if (!(student_loss_weight_ >= 0 && student_loss_weight_ <= 1))
      fail("student_loss_weight must be between 0.0 and 1.0, got ", student_loss_weight_);
    const size_t count = losses_.losses.size();
    if (!loss_weights_ || !losses_.is_list) loss_weights_ = std::vector<double>(count, 1.0);
    if (loss_weights_->size() != count)
      fail("Number of distillation_loss_weights (", loss_weights_->size(),
           ") must match number of distillation_losses (", count, ")");
    for (const auto& loss : losses_.losses) loss->validate_model_compatibility(teacher, student);
    teacher_features_ =
        FeatureExtractor(teacher, layer_names(&DistillationLoss::teacher_layer_name));
    student_features_ =
        FeatureExtractor(student, layer_names(&DistillationLoss::student_layer_name));
    track(teacher_.shared());
    track(student_.shared());
    teacher_->set_trainable(false);
    add_tracker(student_tracker_, "student_loss");
    add_tracker(distillation_tracker_, "distillation_loss");
    add_tracker(total_tracker_, "total_loss");
  }

  bool takes_structures() const override { return true; }
  Tensors call(const Tensors& inputs, const Call& call) override {
    CallOptions options;
    options.training = call.training;
    options.structure = call.structure;
    const Tensors outputs = (*student_)(inputs, options);
    set_output_structure(student_->output_structure());
    return outputs;
  }

  Dict compile_options(Dict options) const override {
    if (!options.contains("optimizer")) options.set("optimizer", "adam");
    const Value *loss = options.find("loss"), *metrics = options.find("metrics");
    if (!loss || loss->is_null()) fail("'loss' cannot be `None`.");
    if (metrics && !metrics->is_null() && !metrics->is_list())
      fail("metrics must be a list or tuple, got ", *metrics);
    return options;
  }

  Tensor compute_loss(Model& model, const Batch& batch, const Tensors& y_pred,
                      bool training) const override {
    const Tensors outputs = y_pred.empty() ? model(batch.x, {.training = training}) : y_pred;
    Tensor student_loss = Tensor::scalar(0), distillation_loss = Tensor::scalar(0);
    if (student_loss_weight_ > 0 && !batch.y.empty())
      for (const Tensor& loss : output_losses(model, {batch.x, batch.y, {}}, outputs, training))
        student_loss = student_loss + ops::cast(loss, DType::float32);
    if (student_loss_weight_ < 1) distillation_loss = loss_of_teacher(batch.x, outputs);
    const Tensor total_loss =
        student_loss * student_loss_weight_ + distillation_loss * (1 - student_loss_weight_);
    const NoGradient no_gradient;
    student_tracker_->update_state(student_loss, {}, {});
    distillation_tracker_->update_state(distillation_loss, {}, {});
    total_tracker_->update_state(total_loss, {}, {});
    return total_loss;
  }

 private:
  using NameOfLayer = LayerName (DistillationLoss::*)() const;

  std::vector<std::string> layer_names(NameOfLayer name_of_layer) const {
    std::vector<std::string> names;
    for (const auto& loss : losses_.losses)
      if (const LayerName name = (*loss.*name_of_layer)();
          name && std::find(names.begin(), names.end(), *name) == names.end())
        names.push_back(*name);
    return names;
  }

  void add_tracker(std::shared_ptr<Metric>& tracker, const char* name) {
    if (tracker) return;
    tracker = make<Metric>("Mean", {{"name", name}});
    add_metric(tracker);
  }

  /// The outputs of the teacher, to which no gradient flows; with those of its layers, if losses
  /// need them.
  Tensors teacher_results(const Tensors& x) const {
    const NoGradient no_gradient;
    return teacher_features_ ? teacher_features_(x, false) : (*teacher_)(x, {.training = false});
  }

  /// The weighted sum of the distillation losses. As in Keras, layers of the student are computed
  /// in training mode, in evaluate too.
  Tensor loss_of_teacher(const Tensors& x, const Tensors& y_pred) const {
    const Tensors from_teacher = teacher_results(x),
                  from_student = student_features_ ? student_features_(x, true) : y_pred;
    const Value student_outputs = nested(y_pred, student_->output_structure());
    Tensor sum = Tensor::scalar(0);
    for (size_t i = 0; i < losses_.losses.size(); ++i) {
      const DistillationLoss& loss = *losses_.losses[i];
      const LayerName teacher_layer = loss.teacher_layer_name();
      const Value teacher = teacher_features_
                                ? teacher_features_.features(from_teacher, teacher_layer)
                                : nested(from_teacher, teacher_->output_structure()),
                  student =
                      teacher_layer && student_features_
                          ? student_features_.features(from_student, loss.student_layer_name())
                          : student_outputs;
      loss.validate_outputs(teacher, student);
      const Tensor value = loss.compute_loss(teacher, student);
      if (value.rank() > 0)
        fail("Distillation loss ", loss.class_name(), " returned a non-scalar loss with shape ",
             value.shape(), ". The compute_loss method must return a scalar tensor.");
      sum = sum + ops::cast(value, DType::float32) * (*loss_weights_)[i];
    }
    return sum;
  }

  Ref<Layer> teacher_, student_;
  DistillationLosses losses_;
  std::optional<std::vector<double>> loss_weights_;
  double student_loss_weight_ = 0.5;
  FeatureExtractor teacher_features_, student_features_;
  std::shared_ptr<Metric> student_tracker_, distillation_tracker_, total_tracker_;
};

}  // namespace

CRESCENT_REGISTER(distiller) { registry.add<Distiller>("Distiller"); }

}  // namespace crescent
