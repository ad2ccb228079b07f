// Compiles a model that was made from another model, with the compile options of that other model.
#include <unordered_map>

#include "training/state/training.h"

namespace crescent {
namespace {

using NewNames = std::unordered_map<std::string, std::string>;

/// Maps the names of the outputs of `from` to their names in `to`.
NewNames new_names(const Model& from, const Model& to) {
  const std::vector<std::string> old_names = from.output_names(),
                                 new_output_names = to.output_names();
  NewNames names;
  for (size_t i = 0; i < old_names.size() && old_names.size() == new_output_names.size(); ++i)
    names[old_names[i]] = new_output_names[i];
  return names;
}

/// If the value is a dictionary by output, returns it with the new names of the outputs as keys;
/// otherwise returns the value.
Value with_new_names(const Value& by_output, const NewNames& names) {
  if (!by_output.is_dict() || by_output.as_dict().contains("class_name")) return by_output;
  Dict dict;
  for (const DictEntry& entry : by_output.as_dict()) {
    const auto name = names.find(entry.key);
    dict.set(name == names.end() ? entry.key : name->second, entry.value);
  }
  return dict;
}

}  // namespace

Dict compile_options(const CompileSpec& spec) {
  const CompileOptions& options = spec.options;
  return {{"optimizer", Value(spec.optimizer)},
          {"loss", options.loss},
          {"metrics", options.metrics},
          {"loss_weights", options.loss_weights},
          {"weighted_metrics", options.weighted_metrics},
          {"run_eagerly", options.run_eagerly},
          {"steps_per_execution", options.steps_per_execution},
          {"jit_compile", options.jit_compile},
          {"auto_scale_loss", options.auto_scale_loss},
          {"mask_as_weights", options.mask_as_weights},
          {"remat", options.remat}};
}

void carry_training(const Model& from, Model& to) {
  if (!from.compiled()) return;
  const ModelAccess::Training& old_training = ModelAccess::training(from);
  const NewNames names = from.is_graph() && to.is_graph() ? new_names(from, to) : NewNames();
  Dict options = compile_options(old_training.spec);
  for (const char* option_name : {"loss", "metrics", "loss_weights", "weighted_metrics"})
    options.set(option_name, with_new_names(options.at(option_name), names));
  to.compile(options);
  ModelAccess::Training& new_training = ModelAccess::training(to);
  new_training.trained_variables.flags = old_training.trained_variables.flags;
  new_training.trained_variables.flags.record_new_layers(to);
  new_training.runs.shuffle_order.state().assign(old_training.runs.shuffle_order.state().value());
  new_training.runs.seed = old_training.runs.seed;
  new_training.runs.epochs_trained = old_training.runs.epochs_trained;
}

}  // namespace crescent
