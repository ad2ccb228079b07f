#include "keras/model/model_file.h"

#include "keras/model/callback_states.h"
#include "keras/model/description.h"
#include "keras/model/training_state.h"
#include "keras/weights/assignment.h"
#include "keras/weights/keras2_weights.h"
#include "keras/weights/keras3_weights.h"

namespace crescent::keras {

Entries model_entries(Model& model, const std::string& path, const SaveOptions& options) {
  Entries entries;
  Value states;
  if (options.include_optimizer) states = write_callback_states(entries, model.run_state());
  write_weights(entries, model, "model_weights", options.target);
  if (model.compiled() && options.include_optimizer)
    write_optimizer(entries, model, options.target);
  write_random_state(entries, model);
  entries.insert(entries.begin(),
                 description_entry(model, path, options, std::move(states), entries));
  return entries;
}

ModelPtr load_model(WeightSource& file, const LoadOptions& options) {
  const Description description(file, options.custom_objects);
  ModelPtr model = description.build();
  Matches matches = match_own(file, find_weights(file), *model, description.origin());
  append(matches, match_random_state(file, *model));
  if (options.compile && description.compile(*model))
    append(matches, match_optimizer(file, *model, description.origin()));
  const CallbackStates callbacks(file, options.compile ? description.own("run_state") : Value());
  append(matches, callbacks.matches());
  assign_all(file, matches);
  callbacks.give_to(*model);
  if (const Value& epochs = description.own("epochs_trained"); epochs.is_int())
    model->set_epochs_trained(epochs.as_int());
  return model;
}

Entries weight_entries(Model& model, const std::string& path) {
  Entries entries;
  path.ends_with(".weights.h5") ? write_keras3_weights(entries, model)
                                : write_weights(entries, model, "", "keras2");
  return entries;
}

void load_weights(WeightSource& file, Model& model, const LoadWeightsOptions& options) {
  if (has_keras3_weights(file)) {
    if (options.by_name)
      fail("'", file.path(),
           "': by_name needs a file in Keras 2's layout; this one (.weights.h5) has no names of "
           "layers");
    return replace_all(file, match_keras3_weights(file, model));
  }
  const std::string group = find_weights(file);
  const Origin origin = origin_of(file, group);
  replace_all(file, options.by_name
                        ? match_by_name(file, group, model, origin, options.skip_mismatch)
                        : match_in_order(file, group, model, origin));
}

}  // namespace crescent::keras
