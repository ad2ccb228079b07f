// Serialized objects {"class_name": ..., "config": {...}}, as all generations of Keras write them.
#pragma once
#include <string>

#include "crescent/registry/registry.h"

namespace crescent::keras {

inline bool is_sequential(const std::string& name) { return name == "Sequential"; }
inline bool is_functional(const std::string& name) {
  return name == "Functional" || name == "Model";
}

/// Whether a serialized object is a graph of layers: its class is that of Keras for such models, or
/// a class of the user whose configuration has that form.
inline bool is_graph(const std::string& class_name, const Dict& config) {
  return config.contains("layers") &&
         (is_functional(class_name) || config.contains("input_layers"));
}

/// Adds the options of a user's model class, which are in its original configuration `config`, to
/// `graph`, the converted configuration of its graph.
inline Dict with_class_options(Dict graph, const Dict& config) {
  Dict options = config;
  for (const char* key :
       {"name", "trainable", "dtype", "layers", "input_layers", "output_layers", "input_structure",
        "output_structure", "input_keys", "output_keys", "added_losses", "added_metrics"})
    options.erase(key);
  for (const DictEntry& entry : options) graph.set(entry.key, entry.value);
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

/// The class of this name, whatever its kind; null if there is none.
inline std::shared_ptr<const ClassInfo> find_class(const std::string& name) {
  for (const KindInfo& kind : kinds())
    if (auto found = registry().find(kind.name, name)) return found;
  return nullptr;
}

/// The option that says whether a layer passes its mask on. Keras has no such option: the layers
/// that have it in Crescent never pass masks on in Keras.
inline constexpr const char* kCarryMask = "carry_mask";

/// The key of the data from which a class written in Lua builds a layer again. In Keras 3 it is
/// beside the configuration, in Crescent it is inside.
inline constexpr const char* kBuildConfig = "build_config";

/// The key of the input shape for which a model without a graph is built. In Keras 3 it is beside
/// the configuration, in Crescent it is inside.
inline constexpr const char* kBuildShape = "build_input_shape";

/// Whether an option is the key kBuildShape, and not an option with the same name that the class
/// itself declares.
inline bool is_build_shape(const ClassInfo* info, std::string_view option) {
  const Field* field = info ? info->schema.find(option) : nullptr;
  return option == kBuildShape && (!field || !field->stored);
}

/// The key of the number that identifies a layer which occurs several times in a configuration.
/// Keras 3 and tf.keras number the calls of such a layer across all occurrences when they read a
/// file, but within each occurrence when they write it, so they may misread their own files. Files
/// of Crescent therefore use another key, which Keras ignores: it makes a separate layer of each
/// occurrence.
inline constexpr const char *kSharedId = "shared_object_id", *kCrescentSharedId = "crescent_shared";

/// Copies the number that identifies a shared layer from one form of {"class_name", "config"} to
/// another, under the key `new_key`.
inline void copy_shared_id(const Dict& from, Dict& to, const char* new_key) {
  for (const char* id : {kSharedId, kCrescentSharedId})
    if (const Value* number = from.find(id); number && number->is_int()) to.set(new_key, *number);
}

/// Whether the class is written in Lua or from a plugin that is not built-in. Keras finds such a
/// class only if the user provides it.
inline bool is_foreign(const ClassInfo& info) {
  if (info.origin.empty()) return false;
  const auto builtin_format = registry().find("format", "keras");
  const auto folder_of = [](const std::string& path) {
    return path.substr(0, path.rfind('/') + 1);
  };
  return info.origin == "Lua" || !builtin_format ||
         folder_of(info.origin) != folder_of(builtin_format->origin);
}

/// Whether a name is that of a dtype policy's class; Crescent has no class for policies.
inline bool is_policy(const std::string& class_name) {
  return class_name == "Policy" || class_name.ends_with("DTypePolicy");
}

inline bool is_object(const Value& value) {
  return value.is_dict() && text_at(value.as_dict(), "class_name");
}

}  // namespace crescent::keras
