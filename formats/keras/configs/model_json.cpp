#include "keras/configs/model_json.h"

#include "crescent/model/model.h"
#include "keras/configs/config_in.h"
#include "keras/configs/config_out.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/configs/incompatibilities.h"
#include "keras/keras1/configurations.h"
#include "keras/vocabulary/code_names.h"
#include "keras/vocabulary/objects.h"
#include "keras/vocabulary/reported_once.h"

namespace crescent::keras {
namespace {

/// The writer of a configuration. It is recognized by the version that Keras 2 and tf.keras write,
/// or by the modules of classes that Keras 3 writes. Crescent's own configurations and those of the
/// first versions of Keras 1 have neither.
Origin origin_of(const Dict& model) {
  Origin origin;
  const std::string* version = text_at(model, "keras_version");
  const std::string* backend = text_at(model, "backend");
  origin.keras_version = version ? *version : "3";
  if (backend) origin.backend = *backend;
  if (!version && is_keras1(model)) origin.keras_version = "1";
  origin.is_written_by_crescent = !version && origin.generation() > 1 && !model.contains("module");
  return origin;
}

}  // namespace

void JsonOptions::describe(Schema<JsonOptions>& s) {
  s.field("target", &JsonOptions::target,
          "Who is to read it: \"keras3\", \"keras2\" (tf.keras too), or \"crescent\", which loses "
          "nothing.")
      .choices({"keras3", "keras2", "crescent"});
}

Value from_keras(const Value& model, const Value& custom_objects) {
  return ConfigIn(origin_of(model.as_dict()), custom_objects).model(model);
}

Value to_keras(const Value& model_or_config, const JsonOptions& options) {
  const auto built_model = model_or_config.object_as<Model>();
  const Value model = built_model ? model_config(*built_model) : model_or_config;
  if (options.target == "crescent") return model;
  static ReportedOnce reported;
  for (const std::string& name : names_of_functions(model))
    if (reported.add_if_new(name))
      warn("to_json: '", name, "' is code, which JSON does not hold: define it again or ",
           how_to_provide(name, "model_from_json(json"));
  const bool is_for_keras2 = options.target == "keras2";
  const auto incompatibilities = incompatibilities_of(model, {}, options.target);
  if (any_serious(incompatibilities))
    fail(is_for_keras2 ? "Keras 2 cannot express this model:"
                       : "Keras 3 lacks this, or computes it otherwise; pass target = \"keras2\":",
         to_text(incompatibilities));
  if (!incompatibilities.empty())
    warn(is_for_keras2 ? "Keras 2.3.1" : "Keras 3",
         " lacks this, or computes it otherwise:", to_text(incompatibilities));
  if (options.target == "keras3")
    return built_model ? keras3_layer_config(*built_model) : keras3_model_config(model);
  Value written_config = keras_model_config(model, options.target, built_model.get());
  written_config.as_dict().set("keras_version", keras_version_of(options.target));
  written_config.as_dict().set("backend", kBackend);
  return written_config;
}

}  // namespace crescent::keras
