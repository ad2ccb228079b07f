// Every registered class that files can contain, with its default options and with each option
// changed, is written for Keras 3 and for Keras 2.3.1 and read again: no option may be lost, and
// the constructors of Keras 3 must accept every option that is written for them.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "crescent/base/mapped.h"
#include "crescent/crescent.h"
#include "golden/interop/one_form.h"
#include "keras/configs/config_in.h"
#include "keras/configs/config_out.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/configs/incompatibilities.h"
#include "keras/configs/training_config_out.h"
#include "keras/vocabulary/objects.h"

using namespace crescent;
using namespace crescent::keras;

namespace {

Dict object(const std::string& class_name, const Dict& config) {
  return {{"class_name", class_name}, {"config", config}};
}

// ---- options and arguments that the test cannot derive from the classes

/// Options that a class requires, for which not every value of the type is valid.
struct RequiredOptions {
  const char *kind, *class_name;
  Dict options;
};
const std::vector<RequiredOptions>& required_options() {
  static const Dict dense = object("Dense", {{"units", 2}}),
                    lstm = object("LSTM", {{"units", 2}, {"return_sequences", true}}),
                    cell = object("LSTMCell", {{"units", 2}});
  static const std::vector<RequiredOptions> rows = {
      {"layer", "InputLayer", {{"batch_input_shape", List{Value(), 4}}}},
      {"layer", "EinsumDense", {{"equation", "ab,bc->ac"}, {"output_shape", 3}}},
      {"layer", "Lambda", {{"function", "relu"}}},
      {"layer", "RNN", {{"cell", cell}}},
      {"layer", "StackedRNNCells", {{"cells", List{cell, cell}}}},
      {"layer", "Bidirectional", {{"layer", lstm}}},
      {"layer", "TimeDistributed", {{"layer", dense}}},
      {"layer", "SpectralNormalization", {{"layer", dense}}},
      {"layer", "Permute", {{"dims", List{2, 1}}}},
      {"layer",
       "OperationLayer",
       {{"operation", "relu"}, {"arguments", Dict{{"x", Dict{{"input", 0}}}}}}},
      {"metric", "IoU", {{"num_classes", 2}, {"target_class_ids", List{0}}}},
      {"metric", "OneHotIoU", {{"num_classes", 2}, {"target_class_ids", List{0}}}},
      {"layer", "CategoryEncoding", {{"num_tokens", 3}}},
      {"layer", "Discretization", {{"num_bins", 4}}},
      {"layer", "RandomPosterization", {{"factor", 4}}},
      {"layer", "Pipeline", {{"layers", List{object("Rescaling", {{"scale", 0.5}})}}}},
      {"optimizer", "LossScaleOptimizer", {{"inner_optimizer", object("Adam", {})}}},
      {"schedule",
       "PiecewiseConstantDecay",
       {{"boundaries", List{10}}, {"values", List{0.5, 0.25}}}},
  };
  return rows;
}

/// Registered classes that are not tested on their own: models, and classes that need other objects
/// as options.
const std::set<std::string> kUntestedClasses = {"Sequential",     "Functional",    "Model",
                                                "Distiller",      "Wrapper",       "OptimizerMap",
                                                "MultiOptimizer", "ActivityKeras2"};

/// Arguments that, in Keras 3, the constructors of all classes of a kind accept, besides those of
/// each class.
const std::map<std::string, std::set<std::string>> kCommonArguments = {
    {"layers", {"name", "trainable", "dtype", "activity_regularizer", "autocast"}},
    {"optimizers",
     {"name", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema", "ema_momentum",
      "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps"}}};

/// Arguments that constructors of Keras pass on to a base class; Keras' own files contain them.
const std::map<std::string, std::set<std::string>> kBaseClassArguments = {
    {"layers.AdditiveAttention", {"seed"}},
    {"layers.AutoContrast", {"data_format"}},
    {"layers.ConvLSTM1D", {"unroll", "zero_output_for_mask"}},
    {"layers.ConvLSTM2D", {"unroll", "zero_output_for_mask"}},
    {"layers.ConvLSTM3D", {"unroll", "zero_output_for_mask"}},
    {"layers.GRU", {"zero_output_for_mask"}},
    {"layers.IntegerLookup", {"vocabulary_size"}},
    {"layers.LSTM", {"zero_output_for_mask"}},
    {"layers.LayerNormalization", {"rms_scaling"}},
    {"layers.RandomBrightness", {"data_format"}},
    {"layers.RandomContrast", {"data_format"}},
    {"layers.SimpleRNN", {"zero_output_for_mask"}},
    {"layers.Solarization", {"data_format"}},
    {"layers.StringLookup", {"vocabulary_size"}},
    {"layers.TextVectorization", {"vocabulary_size"}}};

// ---- the tested options

/// Values to try for an option.
List candidate_values(const Field& field, const Value& current_value) {
  List values;
  for (const std::string& choice : field.choices) values.push_back(choice);
  if (!field.kind.empty())
    for (const std::string& name : registry().names(field.kind))
      if (!kUntestedClasses.contains(name)) values.push_back(name);
  if (current_value.is_bool()) values.push_back(!current_value.as_bool());
  if (current_value.is_number()) values.push_back(current_value.as_float() / 2);
  for (const Value& value :
       List{0.5, 1, 2, 3, 0.25, true, false, "other", List{1}, List{2, 2}, List{"a"}, List{0.25}})
    values.push_back(value);
  return values;
}

/// The configuration of an object with these options; nullopt if the class refuses them.
std::optional<Dict> config_with(const std::string& kind, const std::string& name,
                                const Dict& options) {
  try {
    return make_object(kind, name, options)->get_config();
  } catch (const Error&) {
    return std::nullopt;
  }
}

Dict least_options(const std::string& kind, const ClassInfo& info) {
  for (const RequiredOptions& row : required_options())
    if (kind == row.kind && info.name == row.class_name) return row.options;
  Dict options;
  for (const Field& field : info.schema.fields) {
    if (!field.required) continue;
    for (const Value& value : candidate_values(field, {})) {
      Dict extended_options = options;
      extended_options.set(field.name, value);
      try {
        info.schema.find(field.name);
        make_object(kind, info.name, extended_options);
        options = extended_options;
        break;
      } catch (const Error& error) {
        if (std::string(error.what()).find("'" + field.name + "'") == std::string::npos) {
          options = extended_options;
          break;
        }
      }
    }
  }
  return options;
}

struct TriedConfig {
  std::string option;  ///< the option that is changed from its default; empty if none is
  Dict config;
};

std::vector<TriedConfig> configs_of(const std::string& kind, const ClassInfo& info) {
  const Dict required = least_options(kind, info);
  const auto default_config = config_with(kind, info.name, required);
  if (!default_config) {
    FAIL_CHECK(kind << " " << info.name << " cannot be made with " << to_json(required));
    return {};
  }
  std::vector<TriedConfig> configs{{"", *default_config}};
  for (const Field& field : info.schema.fields) {
    if (!field.stored || field.name == "name" || !default_config->contains(field.name)) continue;
    for (const Value& value : candidate_values(field, default_config->at(field.name))) {
      Dict options = required;
      options.set(field.name, value);
      const auto config = config_with(kind, info.name, options);
      if (!config || config->at(field.name) == default_config->at(field.name)) continue;
      configs.push_back({field.name, *config});
      break;
    }
  }
  return configs;
}

// ---- writing configurations and reading them again

Value reparsed(const Value& value) { return parse_json(to_json(value)); }

Value sequential(const Dict& layer) {
  return object("Sequential", {{"name", "s"}, {"layers", List{layer}}});
}

/// The configuration of the only layer of the Sequential that was read.
Dict only_layer(const Value& model) {
  const Dict entry = config_of(model.as_dict()).at("layers").as_list().back().as_dict();
  return make_object("layer", class_of(entry), config_of(entry))->get_config();
}

Dict sorted_by_key(const Dict& config) {
  std::map<std::string, Value> entries;
  for (const DictEntry& entry : config) entries.insert_or_assign(entry.key, entry.value);
  Dict result;
  for (const auto& [key, value] : entries) result.set(key, value);
  return result;
}

/// The configuration as text for comparison. Where versions of Keras have several forms it uses one
/// of them, and leaves out keys that files never contain.
std::string comparable_text(const Dict& config) {
  Dict plain_config = config;
  plain_config.erase(kCarryMask);
  return to_json(mapped(plain_config, [](const Value& part) -> std::optional<Value> {
    if (!is_object(part)) return std::nullopt;
    std::string name = class_of(part);
    Dict own_config = config_of(part.as_dict());
    golden::to_one_form(name, own_config);
    if (const std::string* distribution = text_at(own_config, "distribution");
        distribution && *distribution == "truncated_normal")
      own_config.set("distribution", "normal");
    own_config.erase(kCarryMask);
    return object(name, parse_json(comparable_text(sorted_by_key(own_config))).as_dict());
  }));
}

/// The parameter names of "(units, activation=None, *, name='x', **kwargs)".
std::set<std::string> parameters_of(const std::string& signature) {
  std::set<std::string> names;
  std::string name;
  bool is_in_default = false;
  int depth = 0;
  for (const char c : signature) {
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (depth > 1 || c == '(' || c == ' ') continue;
    if (c == ',' || depth == 0) {
      names.insert(std::exchange(name, ""));
      is_in_default = false;
    } else if (c == '=') {
      is_in_default = true;
    } else if (!is_in_default) {
      name += c;
    }
  }
  return names;
}

/// The parameters of each class, such as "layers.Dense"; empty if the list of Keras' names is not
/// available.
using Signatures = std::map<std::string, std::set<std::string>>;
const Signatures& signatures() {
  static const Signatures all_signatures = [] {
    Signatures result;
    const char* shared_folder = std::getenv("CRESCENT_SHARED");
    std::ifstream file(
        concat(shared_folder ? shared_folder : "../shared", "/reference/keras-names.json"));
    const std::string json_text{std::istreambuf_iterator<char>(file), {}};
    const Value names = json_text.empty() ? Value(Dict()) : parse_json(json_text);
    for (const DictEntry& space : names.as_dict())
      for (const DictEntry& name : space.value.is_dict() ? space.value.as_dict() : Dict())
        if (name.value.is_string())
          result[space.key + "." + name.key] = parameters_of(name.value.as_string());
    return result;
  }();
  return all_signatures;
}

/// Checks that Keras 3's constructors accept all options that were written.
void check_constructors(const Value& written) {
  mapped(written, [&](const Value& part) -> std::optional<Value> {
    if (!is_object(part)) return std::nullopt;
    const Dict& object = part.as_dict();
    const std::string* module = text_at(object, "module");
    if (!module || !module->starts_with("keras.")) return std::nullopt;
    const std::string namespace_name = module->substr(6);
    const auto signature = signatures().find(namespace_name + "." + class_of(object));
    if (signature == signatures().end()) return std::nullopt;
    const auto common_arguments = kCommonArguments.find(namespace_name);
    const bool accepts_common =
        signature->second.contains("**kwargs") && common_arguments != kCommonArguments.end();
    const auto base_class_arguments = kBaseClassArguments.find(signature->first);
    for (const DictEntry& option : config_of(object)) {
      const bool is_accepted = signature->second.contains(option.key) ||
                               (accepts_common && common_arguments->second.contains(option.key)) ||
                               (base_class_arguments != kBaseClassArguments.end() &&
                                base_class_arguments->second.contains(option.key));
      if (!is_accepted)
        FAIL_CHECK("Keras 3's " << signature->first << " does not take '" << option.key << "'");
    }
    return std::nullopt;
  });
}

std::string read_again(const char* version, const Value& written) {
  return comparable_text(only_layer(ConfigIn({version, "tensorflow"}).model(reparsed(written))));
}

void check_layer_config(const std::string& name, const Dict& config) {
  const Value model = sequential(object(name, config));
  const Value keras3 = reparsed(keras3_model_config(model));
  check_constructors(keras3);
  if (incompatibilities_of(model, {}, "keras3").empty()) {
    CHECK(read_again("3.15.1", keras3) == comparable_text(config));
    CHECK(read_again("3.15.1", keras_model_config(model, "keras3")) == comparable_text(config));
  }
  // Three options that Keras 2.3.1 does not have: the correction of the moving variance, masks of
  // Concatenate, and masks given beside states (which no call in this test passes).
  const Value *ddof = config.find("moving_variance_ddof"),
              *mask_with_states = config.find("mask_with_states");
  const bool is_read_otherwise = (ddof && ddof->as_float() > 0) || name == "Concatenate" ||
                                 (mask_with_states && *mask_with_states == Value(true));
  if (incompatibilities_of(model, {}, "keras2").empty() && !is_read_otherwise)
    CHECK(read_again("2.3.1", keras_model_config(model, "keras2")) == comparable_text(config));
}

/// Checks an optimizer, loss or metric as the argument `option` of compile.
void check_compiled(const std::string& option, const std::string& name, const Dict& config) {
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 2}, {"input_shape", List{2}}})});
  Dict compile_options{{"optimizer", "sgd"}, {"loss", "mean_squared_error"}};
  const Value object_config = object(name, config);
  compile_options.set(option, option == "metrics" ? Value(List{object_config}) : object_config);
  const std::string kind = option == "metrics" ? "metric" : option;
  model->compile(compile_options);
  const Value full_config = model->compile_config();
  const auto check_read = [&](const std::string& version, const Value& written) {
    const Dict options_read = ConfigIn({version, "tensorflow"}).compile_options(reparsed(written));
    const Value& value =
        option == "metrics" ? options_read.at(option).as_list().front() : options_read.at(option);
    const auto object_read = get_object(kind, value);
    INFO(version << ": " << to_json(written));
    CHECK(object_read->class_name() == name);
    CHECK(comparable_text(object_read->get_config()) == comparable_text(config));
  };
  const Dict keras3 = keras3_compile_config(full_config);
  check_constructors(reparsed(keras3));
  if (incompatibilities_of(model_config(*model), full_config, "keras3").empty()) {
    check_read("3.15.1", keras3);
    check_read("3.15.1", keras_training_config(full_config, "keras3"));
  }
  if (incompatibilities_of(model_config(*model), full_config, "keras2").empty())
    check_read("2.3.1", keras_training_config(full_config, "keras2"));
}

template <class Check>
void for_each_class(const std::string& kind, const Check& check) {
  int count = 0;
  for (const std::string& name : registry().names(kind)) {
    const auto info = registry().get(kind, name);
    if (kUntestedClasses.contains(name)) continue;
    for (const TriedConfig& tried_config : configs_of(kind, *info)) {
      INFO(kind << " " << name << ", " << tried_config.option);
      try {
        check(name, tried_config.config);
      } catch (const Error& error) {
        FAIL_CHECK(error.what());
      }
      ++count;
    }
  }
  std::printf("every %s: %d configurations written and read\n", kind.c_str(), count);
  CHECK(count > 0);
}

}  // namespace

TEST_CASE("every layer with every option is written for either Keras and read as it was") {
  for_each_class("layer", check_layer_config);
}

TEST_CASE("every loss, metric and optimizer with every option is written and read as it was") {
  for_each_class("loss", [](auto& name, auto& config) { check_compiled("loss", name, config); });
  for_each_class("metric",
                 [](auto& name, auto& config) { check_compiled("metrics", name, config); });
  for_each_class("optimizer",
                 [](auto& name, auto& config) { check_compiled("optimizer", name, config); });
  for_each_class("schedule", [](auto& name, auto& config) {
    const Dict adam =
        make<Optimizer>("Adam", {{"learning_rate", object(name, config)}})->get_config();
    check_compiled("optimizer", "Adam", adam);
  });
}

TEST_CASE("every initializer, regularizer and constraint with every option is written and read") {
  for (const char* kind : {"initializer", "regularizer", "constraint"})
    for_each_class(kind, [&](auto& name, auto& config) {
      const std::string option = concat("kernel_", kind);
      check_layer_config(
          "Dense",
          make<Layer>("Dense", {{"units", 2}, {option, object(name, config)}})->get_config());
    });
}
