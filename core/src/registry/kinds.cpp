// The table of the built-in kinds of classes.
#include <algorithm>

#include "crescent/registry/registry.h"

namespace crescent {
namespace {

constexpr KindInfo kKinds[] = {
    {"layer", "layers", "Layer", "Functions with weights, of which models are built."},
    {"activation", "activations", "Activation",
     "Element-wise or axis-wise functions of one tensor, applied inside layers."},
    {"initializer", "initializers", "Initializer", "Initial values of weights."},
    {"regularizer", "regularizers", "Regularizer",
     "Penalties on weights and outputs, added to the loss."},
    {"constraint", "constraints", "Constraint", "Projections of weights after each update."},
    {"quantizer", "quantizers", nullptr, "Ways to quantize the weights of layers."},
    {"loss", "losses", "Loss", "Objectives that training minimizes."},
    {"distillation_loss", "distillation", "DistillationLoss",
     "Losses between a teacher and a student, and the model that trains students with them."},
    {"metric", "metrics", "Metric", "Values that are measured during training and evaluation."},
    {"optimizer", "optimizers", "Optimizer", "Rules by which gradients update weights."},
    {"schedule", "schedules", "LearningRateSchedule",
     "Learning rates as functions of the number of steps."},
    {"callback", "callbacks", "Callback",
     "Objects that fit, evaluate and predict notify of their progress, and that can stop them."},
    {"operation", nullptr, nullptr, "Functions of tensors: what cr.ops has."},
    {"dataset", nullptr, nullptr, "Data by a name and options: what cr.data has beside functions."},
    {"device", nullptr, nullptr, "Where tensors are and what computes."},
    {"cpu_kernel", nullptr, nullptr, "What the device cpu does for an op of a plugin."},
    {"communicator", nullptr, nullptr, "How the processes of one training talk."},
    {"oracle", nullptr, nullptr, "What chooses the hyperparameters of a search."},
    {"format", nullptr, nullptr, "How models and arrays become files."},
    {"picture", nullptr, nullptr, "How figures are drawn."}};

}  // namespace

std::span<const KindInfo> kinds() { return kKinds; }

const KindInfo& kind_named(std::string_view name) {
  for (const KindInfo& kind : kKinds)
    if (kind.name == name) return kind;
  std::vector<std::string> kind_names;
  for (const KindInfo& kind : kKinds) kind_names.push_back(kind.name);
  fail("unknown kind '", name, "'", did_you_mean(name, kind_names));
}

}  // namespace crescent
