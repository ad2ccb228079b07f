// Serialised objects, {"class_name": ..., "config": {...}}: what every generation of Keras has in
// common.
#pragma once
#include <string>

#include "crescent/registry/registry.h"

namespace crescent::keras {

inline bool is_sequential(const std::string& name) { return name == "Sequential"; }
inline bool is_functional(const std::string& name) {
  return name == "Functional" || name == "Model";
}

/// Models made of symbols: Keras' own class, or one of a user's with the same configuration.
inline bool is_graph(const std::string& class_name, const Dict& config) {
  return config.contains("layers") &&
         (is_functional(class_name) || config.contains("input_layers"));
}

/// The graph of a user's class in another form, with what its configuration has beside the graph.
inline Dict with_own_options(Dict graph, const Dict& config) {
  Dict own = config;
  for (const char* part :
       {"name", "trainable", "dtype", "layers", "input_layers", "output_layers", "input_structure",
        "output_structure", "input_keys", "output_keys", "added_losses", "added_metrics"})
    own.erase(part);
  for (const DictEntry& entry : own) graph.set(entry.key, entry.value);
  return graph;
}

inline const std::string* text_at(const Dict& dict, std::string_view key) {
  const Value* value = dict.find(key);
  return value && value->is_string() ? &value->as_string() : nullptr;
}

inline std::string class_of(const Dict& object) {
  const std::string* name = text_at(object, "class_name");
  if (!name) fail("expected an object with class_name, got ", Value(object));
  return *name;
}

inline std::string class_of(const Value& object) { return class_of(object.as_dict()); }

inline Dict config_of(const Dict& object) {
  const Value* config = object.find("config");
  return config && config->is_dict() ? config->as_dict() : Dict();
}

inline std::string name_of_layer(const Dict& object) {
  if (const std::string* name = text_at(object, "name")) return *name;
  Dict config = config_of(object);
  const std::string* name = text_at(config, "name");
  return name ? *name : "";
}

/// The class of this name, of whichever kind; null when there is none.
inline std::shared_ptr<const ClassInfo> find_class(const std::string& name) {
  for (const KindInfo& kind : kinds())
    if (auto found = registry().find(kind.name, name)) return found;
  return nullptr;
}

/// An option of ours that no Keras has: whether a layer tells the next ones which steps count,
/// which Keras' own never do.
inline constexpr const char* kCarryMask = "carry_mask";

/// What a class from Lua builds a layer again from: beside the configuration in Keras 3, in it in
/// ours.
inline constexpr const char* kBuildConfig = "build_config";

/// What a model without a graph is built for: beside the configuration in Keras 3, in it in ours.
inline constexpr const char* kBuildShape = "build_input_shape";

/// Whether an option of a class is that, and none that the class declares for itself.
inline bool is_build_shape(const ClassInfo* info, std::string_view option) {
  const Field* field = info ? info->schema.find(option) : nullptr;
  return option == kBuildShape && (!field || !field->stored);
}

/// The number of a layer that stands at several places. Keras 3 and tf.keras count the calls of
/// such a layer together where they read them and apart where they write them, so that they may
/// open their own files wrongly; ours have another word for it, and Keras makes a layer at each
/// place.
inline constexpr const char *kSharedId = "shared_object_id", *kOurSharedId = "crescent_shared";

/// {"class_name", "config"} of a layer in one form, with the number that it has in another.
inline void keep_shared_id(const Dict& from, Dict& to, const char* as) {
  for (const char* id : {kSharedId, kOurSharedId})
    if (const Value* number = from.find(id); number && number->is_int()) to.set(as, *number);
}

/// From Lua, or from a plugin that does not lie beside ours: Keras finds it only where the user
/// brings it along.
inline bool is_foreign(const ClassInfo& info) {
  if (info.origin.empty()) return false;
  const auto ours = registry().find("format", "keras");
  const auto folder = [](const std::string& path) { return path.substr(0, path.rfind('/') + 1); };
  return info.origin == "Lua" || !ours || folder(info.origin) != folder(ours->origin);
}

/// A dtype policy, which is no class here.
inline bool is_policy(const std::string& class_name) {
  return class_name == "Policy" || class_name.ends_with("DTypePolicy");
}

inline bool is_object(const Value& value) {
  return value.is_dict() && text_at(value.as_dict(), "class_name");
}

}  // namespace crescent::keras
