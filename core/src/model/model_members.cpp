// Methods and properties of all models, beside those of layers, for Lua, help and the listing.
#include "crescent/layer/training.h"
#include "crescent/model/callback.h"
#include "crescent/model/model.h"

namespace crescent {
namespace {

Variables states_of_metrics(const Model& model) {
  Variables all;
  for (const auto& metric : model.all_metrics())
    all.insert(all.end(), metric->variables().begin(), metric->variables().end());
  return all;
}

bool runs_eagerly(const Model& model) {
  const Value options = model.compile_config();
  const Value* on = options.is_dict() ? options.as_dict().find("run_eagerly") : nullptr;
  return on && on->is_bool() && on->as_bool();
}

LayerPtr take_last(Sequential& model) {
  const std::vector<LayerPtr> before = model.layers();
  model.pop();
  return before.back();
}

}  // namespace

void Model::describe_members(Schema<Model>& s) {
  s.property("layers", &Model::layers, "Those of its graph, or that it tracks.")
      .property("input_names", &Model::input_names, "The names of its inputs, in order.")
      .property("output_names", &Model::output_names, "The names of its outputs, in order.")
      .property("optimizer", &Model::optimizer, "What it was compiled with.")
      .property("history", &Model::history, "Of the last fit.")
      .property("metrics", &Model::all_metrics,
                "The means of losses, those it was compiled with, and its layers'.")
      .property("metrics_names", &Model::metrics_names, "What evaluate gives, by name.")
      .property("metrics_variables", states_of_metrics, "The states of its metrics.")
      .property("run_eagerly", runs_eagerly, "Whether steps run op by op, as compile was told.")
      .property("compiled", &Model::compiled, "Whether compile was called.")
      .property("epochs_trained", &Model::epochs_trained, "In all fits so far.")
      .property(
          "stop_training", &Model::stop_training,
          [](Model& model, bool on) { model.stop_training = on; },
          "Callbacks set it; training stops after the batch.")
      .method("reset_metrics", &Model::reset_metrics, "Sets the metrics to their start.");
}

void Sequential::describe_members(Schema<Sequential>& s) {
  s.method("pop", take_last, "Takes the last layer off and gives it.");
}

}  // namespace crescent
