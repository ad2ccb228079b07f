// Options of saving and loading that all formats of Keras share.
#pragma once
#include <string>

#include "crescent/registry/schema.h"
#include "keras/export.h"

namespace crescent::keras {

struct CRESCENT_KERAS_API SaveOptions {
  bool overwrite = true;
  bool include_optimizer = true;
  bool zipped = true;  ///< false: a folder with the files of an archive
  bool self_test = false;
  /// the generation of Keras that must be able to read the file: "keras3" or "keras2"
  std::string target = "keras3";
  static void describe(Schema<SaveOptions>& s);
};

struct CRESCENT_KERAS_API LoadOptions {
  /// A table {class name = class} of classes from Lua, which are looked up before the registry.
  Value custom_objects;
  bool compile = true, safe_mode = true;
  static void describe(Schema<LoadOptions>& s);
};

struct CRESCENT_KERAS_API SaveWeightsOptions {
  bool overwrite = true;
  Value objects_to_skip;  ///< a list of layers, and the optimizer if it is to be left out
  static void describe(Schema<SaveWeightsOptions>& s);
};

struct CRESCENT_KERAS_API LoadWeightsOptions {
  bool by_name = false, skip_mismatch = false, report = false, by_path = false;
  Value rename;           ///< a table {name in the file = name in the model}
  Value objects_to_skip;  ///< as in SaveWeightsOptions
  static void describe(Schema<LoadWeightsOptions>& s);
};

/// The schemas of the options above, titled for a format: "npz: saving weights".
CRESCENT_KERAS_API const SchemaData& save_model_schema(const std::string& format);
CRESCENT_KERAS_API const SchemaData& load_model_schema(const std::string& format);
CRESCENT_KERAS_API const SchemaData& save_weights_schema(const std::string& format);
CRESCENT_KERAS_API const SchemaData& load_weights_schema(const std::string& format);

}  // namespace crescent::keras
