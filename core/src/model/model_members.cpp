// Methods and properties of all models, beside those of layers, for Lua, help and the listing.
#include "crescent/layer/training.h"
#include "crescent/model/callback.h"
#include "crescent/model/model.h"

namespace crescent {
namespace {

Variables states_of_metrics(const Model& model) {
  Variables variables;
  for (const auto& metric : model.all_metrics())
    variables.insert(variables.end(), metric->variables().begin(), metric->variables().end());
  return variables;
}

bool runs_eagerly(const Model& model) {
  const Value options = model.compile_config();
  const Value* option_value = options.is_dict() ? options.as_dict().find("run_eagerly") : nullptr;
  return option_value && option_value->is_bool() && option_value->as_bool();
}

LayerPtr take_last(Sequential& model) {
  const std::vector<LayerPtr> old_layers = model.layers();
  model.pop();
  return old_layers.back();
}

}  // namespace

void Model::describe_members(Schema<Model>& s) {
  s.property("layers", &Model::layers,
             "The layers of the graph, without operations such as x + 1, or those registered by "
             "track.")
      .property("operations", &Model::operations, "The layers and the operations of the graph.")
      .property("input_names", &Model::input_names, "The names of the inputs, in order.")
      .property("output_names", &Model::output_names, "The names of the outputs, in order.")
      .property("optimizer", &Model::optimizer, "The optimizer of compile.")
      .property("history", &Model::history, "The history of the last fit.")
      .property("metrics", &Model::all_metrics,
                "The mean losses, the metrics of compile and those of layers.")
      .property("metrics_names", &Model::metrics_names,
                "The names of the values that evaluate returns.")
      .property("metrics_variables", states_of_metrics, "The states of the metrics.")
      .property("run_eagerly", runs_eagerly, "Whether steps run op by op, as set in compile.")
      .property("compiled", &Model::compiled, "Whether compile was called.")
      .property("epochs_trained", &Model::epochs_trained,
                "The number of epochs of all calls of fit so far.")
      .property(
          "stop_training", &Model::stop_training,
          [](Model& model, bool on) { model.stop_training = on; },
          "Set by callbacks to stop training after the batch.")
      .method("reset_metrics", &Model::reset_metrics, "Resets the states of the metrics.");
}

void Sequential::describe_members(Schema<Sequential>& s) {
  s.method("pop", take_last, "Removes and returns the last layer.");
}

}  // namespace crescent
