// The options with which a model was compiled, and their transfer to a model that is made from it.
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

/// Returns a dictionary of losses or metrics by output with the new names of the outputs as keys.
Value renamed(const Value& by_output, const NewNames& names) {
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
  const CompileOptions& o = spec.options;
  return {{"optimizer", Value(spec.optimizer)},
          {"loss", o.loss},
          {"metrics", o.metrics},
          {"loss_weights", o.loss_weights},
          {"weighted_metrics", o.weighted_metrics},
          {"run_eagerly", o.run_eagerly},
          {"steps_per_execution", o.steps_per_execution},
          {"jit_compile", o.jit_compile},
          {"auto_scale_loss", o.auto_scale_loss},
          {"mask_as_weights", o.mask_as_weights},
          {"remat", o.remat}};
}

void carry_training(const Model& from, Model& to) {
  if (!from.compiled()) return;
  const ModelAccess::Training& old_training = ModelAccess::training(from);
  const NewNames names = from.is_graph() && to.is_graph() ? new_names(from, to) : NewNames();
  Dict options = compile_options(old_training.spec);
  for (const char* by_output : {"loss", "metrics", "loss_weights", "weighted_metrics"})
    options.set(by_output, renamed(options.at(by_output), names));
  to.compile(options);
  ModelAccess::Training& new_training = ModelAccess::training(to);
  new_training.trained.flags = old_training.trained.flags;
  new_training.trained.flags.record_new_layers(to);
  new_training.runs.order.state().assign(old_training.runs.order.state().value());
  new_training.runs.seed = old_training.runs.seed;
  new_training.runs.epochs = old_training.runs.epochs;
}

}  // namespace crescent
