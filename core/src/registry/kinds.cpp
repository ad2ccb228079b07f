// The table of the built-in kinds.
#include <algorithm>

#include "crescent/registry/registry.h"

namespace crescent {
namespace {

constexpr KindInfo kKinds[] = {
    {"layer", "layers", "Layer", "Functions with weights, what models are made of."},
    {"activation", "activations", "Activation", "Functions of one tensor inside of layers."},
    {"initializer", "initializers", "Initializer", "How weights start."},
    {"regularizer", "regularizers", "Regularizer", "Penalties on weights and outputs."},
    {"constraint", "constraints", "Constraint", "Projections of weights after updates."},
    {"quantizer", "quantizers", nullptr, "How layers keep weights in fewer bits."},
    {"loss", "losses", "Loss", "What training makes small."},
    {"metric", "metrics", "Metric", "What is measured on the way."},
    {"optimizer", "optimizers", "Optimizer", "How gradients change weights."},
    {"schedule", "schedules", "LearningRateSchedule", "Learning rates that follow the steps."},
    {"callback", "callbacks", "Callback", "What is told how a run goes, and may end it."},
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
  std::vector<std::string> known;
  for (const KindInfo& kind : kKinds) known.push_back(kind.name);
  fail("unknown kind '", name, "'", did_you_mean(name, known));
}

}  // namespace crescent
