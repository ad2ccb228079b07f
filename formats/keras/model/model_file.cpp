#include "keras/model/model_file.h"

#include <algorithm>
#include <set>

#include "keras/assignment/assignment.h"
#include "keras/keras1/gates.h"
#include "keras/model/callback_states.h"
#include "keras/model/description.h"
#include "keras/model/self_test.h"
#include "keras/model/state_groups.h"
#include "keras/model/training_state.h"
#include "keras/weights/assets.h"
#include "keras/weights/keras2_weights.h"
#include "keras/weights/keras3_weights.h"
#include "keras/weights/vocabularies.h"
#include "keras/weights/weight_paths.h"
#include "keras/weights/weight_report.h"

namespace crescent::keras {

namespace {

/// The functions that write the weights and the state of the optimizer in one of the layouts of
/// Keras.
struct Layout {
  using Write = void (*)(Entries& entries, Model& model, const std::string& target_generation);
  Write weight_writer, optimizer_writer;
};

constexpr Layout kKeras2Layout{
    [](Entries& entries, Model& model, const std::string& target_generation) {
      write_weights(entries, model, "model_weights", target_generation);
    },
    write_optimizer};
constexpr Layout kKeras3Layout{[](Entries& entries, Model& model, const std::string&) {
                                 write_keras3_weights(entries, model);
                               },
                               [](Entries& entries, Model& model, const std::string&) {
                                 write_keras3_optimizer(entries, model);
                               }};

/// The attributes and the entries of a file with a model.
struct ModelContents {
  ModelAttributes attributes;
  Entries entries;
};

ModelContents contents_of(Model& model, const std::string& path, const SaveOptions& options,
                          const Layout& layout) {
  Entries entries;
  Value states;
  if (options.include_optimizer) states = write_callback_states(entries, model.run_state());
  layout.weight_writer(entries, model, options.target);
  if (model.compiled() && options.include_optimizer)
    layout.optimizer_writer(entries, model, options.target);
  write_state_groups(entries, model);
  if (options.self_test) write_self_test(entries, model);
  ModelAttributes attributes = attributes_of(model, path, options, std::move(states), entries);
  return {std::move(attributes), std::move(entries)};
}

}  // namespace

Entries model_entries(Model& model, const std::string& path, const SaveOptions& options) {
  warn_of_assets(model, path);
  auto [attributes, entries] = contents_of(model, path, options, kKeras2Layout);
  entries.insert(entries.begin(), description_entry(model, attributes, options.target));
  return std::move(entries);
}

ArchiveParts archive_parts(Model& model, const std::string& path, const SaveOptions& options) {
  if (options.target != "keras3")
    fail("'", path, "': an archive is for Keras 3; target = \"", options.target,
         "\" can be written to a file that ends in .h5");
  auto [attributes, entries] = contents_of(model, path, options, kKeras3Layout);
  ArchiveDescription description = archive_description(model, attributes);
  entries.insert(entries.begin(), std::move(description.root));
  return {std::move(description.metadata), std::move(description.config), std::move(entries),
          written_assets(keras3_paths(nullptr, model))};
}

namespace {

Matches match_model(WeightSource& file, Model& model, const Origin& origin) {
  if (has_keras3_weights(file)) return match_keras3_weights(file, model);
  return match_own(file, find_weights(file), model, origin);
}

/// The files of the layers; layers are only looked up in the file if one of them has files.
Assets assets_of(WeightSource& file, Model& model) {
  const std::vector<Layer*> layers = model.flatten_layers();
  const bool has_assets = std::any_of(layers.begin(), layers.end(),
                                      [](const Layer* layer) { return keeps_assets(*layer); });
  return {file, has_assets ? keras3_paths(&file, model) : LayerPaths()};
}

}  // namespace

ModelPtr load_model(WeightSource& source, const LoadOptions& options) {
  if (!options.safe_mode)
    fail("'", source.path(), "': safe_mode=false has no effect: no code from a file is ever run. ",
         "Define what it needs here, or pass it in custom_objects; nothing was loaded");
  const ModelDescription description(source, options.custom_objects);
  JoinedGates joined_gates(source);
  WeightSource& file = description.origin().generation() < 2 ? joined_gates : source;
  ModelPtr model = description.build();
  Matches matches = match_model(file, *model, description.origin());
  append(matches, match_state_groups(file, *model));
  if (options.compile && description.compile(*model))
    append(matches, match_optimizer(file, *model, matches, description.origin(),
                                    description.has_optimizer()));
  const CallbackStates callbacks(file,
                                 options.compile ? description.own_value("run_state") : Value());
  append(matches, callbacks.matches());
  const Vocabularies vocabularies = Vocabularies::in_archive(file, *model);
  append(matches, vocabularies.matches());
  const Assets assets = assets_of(file, *model);
  const SelfTest self_test(file);
  append(matches, self_test.matches());
  assign_all(file, matches);
  vocabularies.give_to_layers();
  assets.give_to_layers();
  callbacks.give_to(*model);
  self_test.check(*model);
  if (const Value& epochs = description.own_value("epochs_trained"); epochs.is_int())
    model->set_epochs_trained(epochs.as_int());
  return model;
}

namespace {

/// The layers that the option objects_to_skip lists, and whether it lists the optimizer.
struct SkippedObjects {
  SkippedLayers layers;
  bool optimizer = false;
};

SkippedObjects skipped_objects(const Value& list, const Model& model) {
  SkippedObjects skipped;
  if (list.is_null()) return skipped;
  for (const Value& object : list.is_list() ? list.as_list() : List{list}) {
    if (const auto layer = object.object_as<Layer>())
      skipped.layers.insert(layer.get());
    else if (const auto optimizer = object.object_as<Optimizer>())
      skipped.optimizer = skipped.optimizer || optimizer == model.optimizer();
    else
      fail("objects_to_skip: expected layers, such as model.layers[1], or the optimizer, got ",
           object);
  }
  return skipped;
}

}  // namespace

void refuse_skipping(const std::string& path, const Value& objects_to_skip, const char* action) {
  if (!objects_to_skip.is_null())
    fail("'", path, "': `objects_to_skip` only supports ", action, " '.weights.h5' files.");
}

Entries keras3_weight_entries(Model& model, const Value& objects_to_skip) {
  const SkippedObjects skipped = skipped_objects(objects_to_skip, model);
  Entries entries;
  write_keras3_weights(entries, model, skipped.layers);
  if (model.compiled() && !skipped.optimizer) write_keras3_optimizer(entries, model);
  write_vocabularies(entries, model);
  return entries;
}

Entries weight_entries(Model& model, const std::string& path, const Value& objects_to_skip) {
  if (path.ends_with(".weights.h5")) return keras3_weight_entries(model, objects_to_skip);
  refuse_skipping(path, objects_to_skip, "saving");
  Entries entries;
  write_weights(entries, model, "", "keras3");
  write_vocabularies(entries, model);
  return entries;
}

namespace {

void warn_with_report(bool is_requested, WeightSource& file, Model& model, const Matches& matches,
                      const Names& arrays) {
  if (is_requested)
    warn("'", file.path(), "': weights:", to_text(weight_report(file, model, matches, arrays)));
}

/// The matches of those layers whose weights all fit; warns of the other layers.
Matches without_misfits(WeightSource& file, const Matches& matches) {
  const std::vector<TensorSpec> specs = file.describe(datasets_of(matches));
  const auto group_of = [](const Match& match) {
    return match.dataset.substr(0, match.dataset.rfind('/'));
  };
  std::set<std::string> misfit_groups;
  for (size_t i = 0; i < matches.size(); ++i) {
    if (specs[i].shape == matches[i].variable.shape()) continue;
    if (misfit_groups.insert(group_of(matches[i])).second)
      warn("Skipping loading of weights for layer ", matches[i].layer,
           " due to mismatch in shape (", matches[i].variable.shape(), " vs ", specs[i].shape,
           ").");
  }
  Matches fitting_matches;
  for (const Match& match : matches)
    if (!misfit_groups.contains(group_of(match))) fitting_matches.push_back(match);
  return fitting_matches;
}

void load_keras3_weights(WeightSource& file, Model& model, const LoadWeightsOptions& options) {
  for (const auto& [is_set, name] : {std::pair{options.by_name, "by_name"},
                                     {!options.rename.is_null(), "rename"},
                                     {options.by_path, "by_path"}})
    if (is_set)
      fail("'", file.path(), "': ", name,
           " needs a file in Keras 2's layout; this one (.weights.h5) has no names of layers");
  const SkippedObjects skipped = skipped_objects(options.objects_to_skip, model);
  Matches matches = match_all_keras3_weights(file, model, options.skip_mismatch, skipped.layers);
  warn_with_report(options.report, file, model, matches, {});
  if (options.skip_mismatch) matches = without_misfits(file, matches);
  if (model.compiled() && !skipped.optimizer)
    append(matches, match_optimizer(file, model, matches, {"3", ""}));
  const Vocabularies vocabularies = Vocabularies::in_weights(file, model);
  append(matches, vocabularies.matches());
  replace_all(file, std::move(matches));
  vocabularies.give_to_layers();
}

}  // namespace

void load_weights(WeightSource& source, Model& model, const LoadWeightsOptions& options) {
  if (has_keras3_weights(source)) return load_keras3_weights(source, model, options);
  refuse_skipping(source.path(), options.objects_to_skip, "loading");
  const std::string group = find_weights(source);
  const Origin origin = origin_of(source, group);
  JoinedGates joined_gates(source);
  WeightSource& file = origin.generation() < 2 ? joined_gates : source;
  const Renaming renaming(options.rename);
  if (!renaming.empty() && !options.by_name && !options.by_path)
    fail("'", file.path(), "': rename needs by_name: else layers are taken in their order");
  if (options.by_path && (options.by_name || options.skip_mismatch))
    fail("'", file.path(), "': by_path takes all weights, and neither by_name nor skip_mismatch");
  Matches matches = options.by_path ? match_by_layer_path(file, group, model, origin, renaming)
                    : options.by_name
                        ? match_by_name(file, group, model, origin, options.skip_mismatch, renaming)
                        : match_in_order(file, group, model, origin, options.skip_mismatch);
  warn_with_report(options.report, file, model, matches, arrays_of(file, group));
  if (options.by_name && matches.empty())
    warn("'", file.path(), "': none of its layers with weights has the name of one of model ",
         model.name(), ", so nothing was loaded; report = true lists them");
  const Vocabularies vocabularies = Vocabularies::in_weights(file, model);
  append(matches, vocabularies.matches());
  replace_all(file, std::move(matches));
  vocabularies.give_to_layers();
}

void load_named_weights(WeightSource& file, Model& model, const LoadWeightsOptions& options) {
  refuse_skipping(file.path(), options.objects_to_skip, "loading");
  for (const auto& [is_set, name] : {std::pair{options.by_name, "by_name"},
                                     {options.skip_mismatch, "skip_mismatch"},
                                     {options.by_path, "by_path"}})
    if (is_set)
      fail("'", file.path(), "': ", name,
           " is for files in Keras 2's layout; here arrays are found by name anyway");
  Vocabularies vocabularies;
  Matches matches = match_by_path(file, model, Renaming(options.rename), vocabularies);
  warn_with_report(options.report, file, model, matches, file.members("").value());
  append(matches, vocabularies.matches());
  replace_all(file, std::move(matches));
  vocabularies.give_to_layers();
}

}  // namespace crescent::keras
