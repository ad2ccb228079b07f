// The options with which a model was compiled, and their transfer to a model that is made from it.
#include <unordered_map>

#include "training/state/training.h"

namespace crescent {
namespace {

using NewNames = std::unordered_map<std::string, std::string>;

/// Maps the names of the outputs of `from` to their names in `to`.
NewNames new_names(const Model& from, const Model& to) {
  const std::vector<std::string> before = from.output_names(), after = to.output_names();
  NewNames names;
  for (size_t i = 0; i < before.size() && before.size() == after.size(); ++i)
    names[before[i]] = after[i];
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
  const ModelAccess::Training& before = ModelAccess::training(from);
  const NewNames names = from.is_graph() && to.is_graph() ? new_names(from, to) : NewNames();
  Dict options = compile_options(before.spec);
  for (const char* by_output : {"loss", "metrics", "loss_weights", "weighted_metrics"})
    options.set(by_output, renamed(options.at(by_output), names));
  to.compile(options);
  ModelAccess::Training& after = ModelAccess::training(to);
  after.trained.flags = before.trained.flags;
  after.trained.flags.record_new_layers(to);
  after.runs.order.state().assign(before.runs.order.state().value());
  after.runs.seed = before.runs.seed;
  after.runs.epochs = before.runs.epochs;
}

}  // namespace crescent
