// The format "keras" has no files; it converts the JSON of models of all generations of Keras, for
// model_from_json and to_json.
#include "crescent/io/format.h"
#include "crescent/plugin.h"
#include "keras/configs/model_json.h"

namespace crescent::keras {

class KerasConfigs final : public Format, public TranslatesConfigs {
 public:
  static void describe(Schema<KerasConfigs>& s) {
    s.doc("Configurations of Keras 2, tf.keras and Keras 3.");
  }
  Value config_in(const Value& config, const Value& custom_objects) override {
    return from_keras(config, custom_objects);
  }
  const SchemaData& config_out_options() const override {
    return schema_of<JsonOptions>("to_json");
  }
  Value config_out(const Value& config, const Dict& options) override {
    return to_keras(config, read_options<JsonOptions>(config_out_options(), options));
  }
};

CRESCENT_PLUGIN("keras", CRESCENT_VERSION) { registry.add<KerasConfigs>("keras"); }

}  // namespace crescent::keras
