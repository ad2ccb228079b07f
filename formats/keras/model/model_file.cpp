#include "keras/model/model_file.h"

#include "keras/model/callback_states.h"
#include "keras/model/description.h"
#include "keras/model/kept_state.h"
#include "keras/model/training_state.h"
#include "keras/weights/assignment.h"
#include "keras/weights/keras2_weights.h"
#include "keras/weights/keras3_weights.h"
#include "keras/weights/weight_paths.h"

namespace crescent::keras {

Entries model_entries(Model& model, const std::string& path, const SaveOptions& options) {
  Entries entries;
  Value states;
  if (options.include_optimizer) states = write_callback_states(entries, model.run_state());
  write_weights(entries, model, "model_weights", options.target);
  if (model.compiled() && options.include_optimizer)
    write_optimizer(entries, model, options.target);
  write_kept_state(entries, model);
  entries.insert(entries.begin(),
                 description_entry(model, path, options, std::move(states), entries));
  return entries;
}

ArchiveParts archive_parts(Model& model, const std::string& path, const SaveOptions& options) {
  if (options.target != "keras3")
    fail("'", path, "': an archive is for Keras 3; target = \"", options.target,
         "\" can be written to a file that ends in .h5");
  Entries entries;
  Value states;
  if (options.include_optimizer) states = write_callback_states(entries, model.run_state());
  write_keras3_weights(entries, model);
  if (model.compiled() && options.include_optimizer) write_keras3_optimizer(entries, model);
  write_kept_state(entries, model);
  ArchiveDescription said = archive_description(model, path, options, std::move(states), entries);
  entries.insert(entries.begin(), std::move(said.root));
  return {std::move(said.metadata), std::move(said.config), std::move(entries)};
}

namespace {

Matches match_model(WeightSource& file, Model& model, const Origin& origin) {
  if (has_keras3_weights(file)) return match_keras3_weights(file, model);
  return match_own(file, find_weights(file), model, origin);
}

}  // namespace

ModelPtr load_model(WeightSource& file, const LoadOptions& options) {
  const Description description(file, options.custom_objects);
  ModelPtr model = description.build();
  Matches matches = match_model(file, *model, description.origin());
  append(matches, match_kept_state(file, *model));
  if (options.compile && description.compile(*model)) {
    model->optimizer()->build(model->trainable_weights());
    append(matches,
           match_optimizer(file, *model, description.origin(), description.has_optimizer()));
  }
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
  if (!path.ends_with(".weights.h5")) {
    write_weights(entries, model, "", "keras3");
    return entries;
  }
  write_keras3_weights(entries, model);
  if (model.compiled()) write_keras3_optimizer(entries, model);
  return entries;
}

void load_weights(WeightSource& file, Model& model, const LoadWeightsOptions& options) {
  if (has_keras3_weights(file)) {
    if (options.by_name)
      fail("'", file.path(),
           "': by_name needs a file in Keras 2's layout; this one (.weights.h5) has no names of "
           "layers");
    Matches matches = match_keras3_weights(file, model);
    if (model.compiled()) {
      model.optimizer()->build(model.trainable_weights());
      append(matches, match_optimizer(file, model, {"3", ""}));
    }
    return replace_all(file, std::move(matches));
  }
  const std::string group = find_weights(file);
  const Origin origin = origin_of(file, group);
  replace_all(file, options.by_name
                        ? match_by_name(file, group, model, origin, options.skip_mismatch)
                        : match_in_order(file, group, model, origin));
}

void load_named_weights(WeightSource& file, Model& model, const LoadWeightsOptions& options) {
  if (options.by_name)
    fail("'", file.path(), "': by_name is for files in Keras 2's layout; here arrays are found by ",
         "name anyway");
  replace_all(file, match_by_path(file, model));
}

}  // namespace crescent::keras
