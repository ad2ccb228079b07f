// Options of objects in files of Keras, translated to those of the registered classes.
#include <algorithm>

#include "crescent/base/pattern.h"
#include "crescent/model/model.h"
#include "keras/configs/config_in.h"
#include "keras/vocabulary/formulas.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// An option that was renamed from `file_name` to `crescent_name`; the entry is not used for
/// classes that have an option named `file_name`.
struct RenamedOption {
  const char *file_name, *crescent_name;
};
constexpr RenamedOption kRenamedOptions[] = {
    {"batch_shape", "batch_input_shape"},  // in InputLayer of Keras 3
    {"alpha", "negative_slope"},           // in LeakyReLU of Keras 2
    {"lr", "learning_rate"},               // in optimizers of Keras before 2.3
};

/// An option that a class may lack in Crescent. It is ignored if its value is `neutral_value`,
/// which has no effect; if `neutral_value` is "", no value has an effect.
struct IgnoredOption {
  const char *option, *neutral_value;
};
// clang-format off
constexpr IgnoredOption kIgnoredOptions[] = {
    {"sparse", "false"}, {"ragged", "false"}, {"optional", "false"}, {"input_tensor", "null"},
    {"input_length", ""}, {"implementation", ""}, {"unroll", ""}, {"time_major", "false"},
    {"use_cudnn", ""}, {"synchronized", "false"}, {"renorm", "false"}, {"renorm_momentum", ""},
    {"fused", ""}, {"virtual_batch_size", ""}, {"groups", "1"}, {"keepdims", "false"},
    {"autocast", "true"}, {"stateful", "false"}, {"return_state", "false"},
    {"zero_output_for_mask", ""}, {"query_shape", ""}, {"key_shape", ""}, {"value_shape", ""},
    {"jit_compile", ""}, {"is_legacy_optimizer", ""}, {"rms_scaling", "false"}, {"decay", "0.0"},
    {"quantization_config", "null"}, {"flash_attention", ""}, {"use_gate", "false"}, {"name", ""},
    {"module", ""}, {"function_type", ""}, {"output_shape_type", ""}, {"output_shape_module", ""},
    {"noise_shape", "null"}, {"schedule_decay", "0.004"}, {"dynamic", "true"}, {"fn", ""},
};
// clang-format on

/// The files of Keras 2 to which an entry of a table applies: all of them, or only those of
/// versions up to 2.3.1, before Keras became a part of TensorFlow.
enum class FileVersions { all, before_tensorflow };

/// A value of an option that has another meaning in Keras 2 than in Keras 3: `keras2` in files of
/// Keras 2 is called `crescent` in Crescent.
struct RenamedValue {
  const char *option, *keras2, *crescent;
  FileVersions versions = FileVersions::all;
};
constexpr RenamedValue kRenamedValues[] = {
    {"activation", "hard_sigmoid", "hard_sigmoid_keras2"},
    {"recurrent_activation", "hard_sigmoid", "hard_sigmoid_keras2"},
    {"reduction", "auto", "sum_over_batch_size"},  // written by tf.keras
    {"interpolation", "bilinear", "bilinear_keras2", FileVersions::before_tensorflow},
};

/// The value that an option has in Keras 2, where the formula differs from Crescent's default.
/// Files of Keras 2 do not contain the option.
struct OldDefault {
  const char *class_name, *option;
  double value;  ///< 0 or 1 for a boolean option
  FileVersions versions = FileVersions::all;
};
constexpr OldDefault kOldDefaults[] = {
    {"GRU", "reset_after", false},
    {"GRUCell", "reset_after", false},
    {"RMSprop", "epsilon_outside", true, FileVersions::before_tensorflow},
    {"Adagrad", "epsilon_outside", true, FileVersions::before_tensorflow},
    {"Adagrad", "initial_accumulator_value", 0, FileVersions::before_tensorflow},
    {"Concatenate", "mask_all", true},
    {"Add", "mask_all", true},
    {"Subtract", "mask_all", true},
    {"Average", "mask_all", true},
    {"Multiply", "mask_all", true},
    {"Maximum", "mask_all", true},
    {"Minimum", "mask_all", true},
    {"ActivityRegularization", "whole_batch", true, FileVersions::before_tensorflow},
    {"BatchNormalization", "batch_when_frozen", true, FileVersions::before_tensorflow},
    {"BatchNormalization", "count_masked", true, FileVersions::before_tensorflow}};

bool has_no_effect(const std::string& option, const Value& value) {
  if (value.is_null()) return true;
  return std::any_of(
      std::begin(kIgnoredOptions), std::end(kIgnoredOptions), [&](const IgnoredOption& row) {
        return option == row.option && (!*row.neutral_value || to_json(value) == row.neutral_value);
      });
}

bool applies_to(FileVersions versions, const Origin& origin) {
  return versions == FileVersions::all ? origin.generation() <= 2 : origin.is_before_tensorflow();
}

/// The value that Crescent has for the value of an option in a file. Some versions of Keras 2 use
/// the same name with another meaning (kRenamedValues).
Value current_value(const std::string& option, const Value& value, const Origin& origin) {
  for (const RenamedValue& row : kRenamedValues)
    if (option == row.option && value == Value(row.keras2) && applies_to(row.versions, origin))
      return row.crescent;
  return value;
}

/// Sets the divisor of the moving variance. It is n - 1 - epsilon in Keras 2.3.1, and n - 1 in
/// tf.keras for images, because tf.keras calls an operation of TensorFlow for them.
void add_moving_variance(const Origin& origin, Dict& config) {
  const Value *epsilon = config.find("epsilon"), *axis = config.find("axis");
  constexpr int kImageChannelAxis = 3;
  if (origin.corrects_variance())
    config.set("moving_variance_ddof", 1 + (epsilon ? epsilon->as_float() : 1e-3));
  else if (origin.generation() == 2 && !origin.is_before_tensorflow() && axis &&
           *axis == Value(List{kImageChannelAxis}))
    config.set("moving_variance_ddof", 1.0);
}

/// Converts 1 and 0 to true and false, because Python accepts and writes these numbers for
/// booleans.
Value as_boolean(const Value& value) {
  return value == Value(1) ? Value(true) : value == Value(0) ? Value(false) : value;
}

constexpr const char* kDecay = "decay";

/// Whether the option is the `decay` that all optimizers of Keras 2 have, rather than an option
/// that a class of the user declares.
bool is_decay_of_keras2(const ClassInfo& info, const std::string& option, const Origin& origin) {
  const bool is_own_option =
      is_foreign(info) && (info.schema.find(kDecay) || origin.generation() >= 3);
  return info.kind == Optimizer::kKind && option == kDecay && !is_own_option;
}

/// Converts `decay` of Keras 2 to a schedule: lr / (1 + decay * iterations).
void decay_to_schedule(Dict& config) {
  const Value* decay = config.find(kDecay);
  const Value* learning_rate = config.find("learning_rate");
  if (!decay || !decay->is_number() || decay->as_float() == 0 || !learning_rate ||
      !learning_rate->is_number())
    return;
  Dict schedule{
      {"initial_learning_rate", *learning_rate}, {"decay_steps", 1}, {"decay_rate", *decay}};
  config.set("learning_rate",
             Dict{{"class_name", "InverseTimeDecay"}, {"config", std::move(schedule)}});
  config.erase(kDecay);
}

/// Fails for an option that is a path, because an untrusted file could name any file of the user.
void refuse_path(const std::string& class_name, const std::string& option, const Value& value) {
  if (option == "vocabulary" && value.is_string())
    fail(class_name, ": Requested the loading of a vocabulary file outside of the model archive. ",
         "This carries a potential risk of loading arbitrary and sensitive files and thus it is ",
         "disallowed. Vocabulary file: '", value.as_string(), "'");
}

/// Whether a policy of the map, or its default, quantizes layers.
bool quantizes_layers(const Dict& map_config) {
  const auto is_quantized = [](const Value& policy) {
    return (is_object(policy) && config_of(policy.as_dict()).contains("mode")) ||
           (policy.is_string() && policy.as_string().find("_from_") != std::string::npos);
  };
  const Value *policies = map_config.find("policy_map"),
              *default_policy = map_config.find("default_policy");
  if (default_policy && is_quantized(*default_policy)) return true;
  return policies && policies->is_dict() &&
         std::any_of(policies->as_dict().begin(), policies->as_dict().end(),
                     [&](const DictEntry& entry) { return is_quantized(entry.value); });
}

/// The dtype policy of a layer in a model with a policy map. If no policy of the map quantizes
/// layers, it is the map itself, in which the layer looks up its policy when it is built. Otherwise
/// it is the policy that the map has for the name of the layer, because quantized layers must know
/// their policy before they are built.
Value policy_for(const Value& policy_map, const std::string& layer_name) {
  const Dict config = config_of(policy_map.as_dict());
  if (!quantizes_layers(config))
    return Codec<DTypePolicy>::encode(Codec<DTypePolicy>::decode(policy_map));
  const Value* policies = config.find("policy_map");
  std::vector<Value> matching_policies;
  if (policies && policies->is_dict()) {
    for (const DictEntry& entry : policies->as_dict()) {
      if (entry.key == layer_name) return entry.value;
      if (Pattern(entry.key, "DTypePolicyMap").matches(layer_name))
        matching_policies.push_back(entry.value);
    }
  }
  if (matching_policies.size() > 1)
    fail("DTypePolicyMap: expected one pattern that fits layer '", layer_name, "', got ",
         matching_policies.size());
  const Value* default_policy = config.find("default_policy");
  return matching_policies.empty() ? default_policy ? *default_policy : Value()
                                   : matching_policies.front();
}

bool is_policy_map(const Value& value) {
  return is_object(value) && class_of(value) == "DTypePolicyMap";
}

}  // namespace

/// Converts the options of an object in a file of Keras to options of the registered class: names
/// and values are translated where they differ.
Dict ConfigIn::options(std::string_view kind, const std::string& class_name,
                       const Dict& config) const {
  auto class_info = registry().get(kind, class_name);
  const SchemaData& schema = class_info->schema;
  Dict result;
  for (const DictEntry& entry : config) {
    std::string option = entry.key;
    for (const RenamedOption& row : kRenamedOptions)
      if (option == row.file_name && !schema.find(row.file_name) && schema.find(row.crescent_name))
        option = row.crescent_name;
    // replaces an alias by the option's main name
    if (const Field* field = schema.find(option)) option = field->name;
    if (!schema.find(option) && !class_info->open_options && has_no_effect(option, entry.value) &&
        !is_decay_of_keras2(*class_info, option, origin_))
      continue;
    refuse_path(class_name, option, entry.value);
    // The code of a Lambda in a file is not read. The user may pass a function under the name of
    // the layer, and a mask function under that name plus "_mask".
    const bool is_mask = option == "mask",
               has_code = entry.value.is_dict() || entry.value.is_list();
    const bool is_lambda_code =
        class_name == "Lambda" && has_code && (option == "function" || is_mask);
    const Field* known_field = schema.find(option);
    const ExpectedObject expected{known_field ? known_field->kind : "",
                                  concat("option '", option, "' of ", kind, " ", class_name)};
    const Value file_value = is_policy_map(entry.value)
                                 ? policy_for(entry.value, name_of_layer(Dict{{"config", config}}))
                                 : entry.value;
    if (file_value.is_null() && option == "dtype") continue;
    Value value = is_lambda_code ? Value(config.at("name").as_string() + (is_mask ? "_mask" : ""))
                                 : converted_value(file_value, expected);
    value = current_value(option, value, origin_);
    if (origin_.is_before_tensorflow() && option == kActivityRegularizer && !value.is_null())
      value = Dict{{"class_name", kActivityKeras2}, {"config", Dict{{"regularizer", value}}}};
    if (origin_.is_before_tensorflow() && kind == "optimizer" && option == "clipnorm")
      option = "global_clipnorm";  // limits the norm of all gradients together
    if (const Field* field = schema.find(option))
      value = registered_value(class_name, *field, value);
    if (const Field* field = schema.find(option); field && field->type == Codec<bool>::type())
      value = as_boolean(value);
    result.set(option, std::move(value));
  }
  if (schema.find(kCarryMask) && !result.contains(kCarryMask)) result.set(kCarryMask, false);
  for (const OldDefault& row : kOldDefaults) {
    // the field is null if the class is an operation with the same name as a layer
    const Field* field = schema.find(row.option);
    if (field && class_name == row.class_name && applies_to(row.versions, origin_) &&
        !result.contains(row.option))
      result.set(row.option,
                 field->type == Codec<bool>::type() ? Value(row.value != 0) : Value(row.value));
  }
  if (class_name == "BatchNormalization") add_moving_variance(origin_, result);
  if (is_decay_of_keras2(*class_info, kDecay, origin_)) {
    decay_to_schedule(result);
    result.erase(kDecay);
  }
  return result;
}

}  // namespace crescent::keras
