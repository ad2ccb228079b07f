// Loads files that Keras wrote, writes them again for the same version and compares them with the
// originals: attributes, groups, arrays, names, order and configurations must be equal, except for
// differences that the tables here justify.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "golden/interop/one_form.h"
#include "golden/recorded.h"
#include "keras/vocabulary/objects.h"
#include "keras/vocabulary/origin.h"
#include "keras_file.h"

using namespace crescent;
using namespace crescent::golden;
using keras::class_of;
using keras::config_of;
using keras::is_object;

namespace {

namespace fs = std::filesystem;

// ---- differences that are allowed, with their reasons

/// Keys that Keras writes and Crescent does not, with the reason.
const std::map<std::string, const char*> kKeysLeftOut = {
    {"build_config", "follows from the graph"},
    {"build_input_shape", "follows from the input layer"},
    {"decay", "of an optimizer; 0 unless it became a schedule"},
    {"fn", "of a loss, the function of its class; only tf.keras writes it"},
    {"implementation", "how a recurrent layer computes, not what"},
    {"input_axes", "of an initializer, null"},
    {"input_length", "of Embedding, follows from the input"},
    {"is_legacy_optimizer", "only tf.keras knows it"},
    {"jit_compile", "no other generation knows it"},
    {"optional", "of an input; only Keras 3 knows it"},
    {"output_axes", "of an initializer, null"},
    {"quantization_config", "null"},
    {"ragged", "of an input; only Keras 3 knows it"},
    {"run_eagerly", "no other generation knows it"},
    {"steps_per_execution", "no other generation knows it"},
    {"use_gate", "of MultiHeadAttention, false"},
    {"seed_generator", "state"}};

/// Keys that Crescent writes and this version of Keras does not, with the reason.
const std::map<std::string, const char*> kAddedKeys = {
    {"sample_weight_mode", "2.3.1 needs it"},
    {"weighted_metrics", "2.3.1 needs it"},
    {"dtype", "of a layer; 2.2 and earlier do not write it"},
    {"name", "of a Sequential; before 2.2.3 it is a bare list of layers"}};

/// Pairs of names with the same meaning.
const std::map<std::string, std::string> kEquivalentNames = {
    {"Functional", "Model"},
    // Keras 3 reads both names, earlier versions read only the second name.
    {"batch_shape", "batch_input_shape"},
    // Two names of an option of LeakyReLU in different versions.
    {"alpha", "negative_slope"},
    {"auto", "sum_over_batch_size"},  // tf.keras writes the first name
    {"Custom>Adam", "Adam"},          // tf.keras writes the first name
    {"lr", "learning_rate"},          // Keras up to 2.2 writes the first name
    {"mse", "mean_squared_error"},    // Keras 3 writes short names and cannot read them
    {"mae", "mean_absolute_error"}};

/// Keys that may be missing if they have this default value.
const std::map<std::string, Value> kNeutralDefaults = {{"amsgrad", false},
                                                       {"ema_momentum", 0.99},
                                                       {"groups", 1},
                                                       {"initial_accumulator_value", 0.1},
                                                       {"keepdims", false},
                                                       {"momentum", 0.0},
                                                       {"renorm", false},
                                                       {"renorm_momentum", 0.99},
                                                       {"synchronized", false},
                                                       {"use_ema", false},
                                                       {"zero_output_for_mask", false}};

bool is_neutral(const DictEntry& entry, const std::string& location) {
  if (entry.key == "name") return location == "training_config/optimizer_config/config";
  if (entry.key == "axis")
    return location == "training_config/loss/config" && entry.value == Value(-1);
  const auto row = kNeutralDefaults.find(entry.key);
  return row != kNeutralDefaults.end() && row->second == entry.value;
}

/// Files with operations that only compute a mask, which Crescent passes on automatically.
const std::set<std::string> kMaskOperations = {"interop/k3/c16_masked_mha.h5",
                                               "interop/k3/d01_emb_lstm_functional.h5"};

// ---- comparing configurations

/// Collects, in order, the references to tensors (layer, node, tensor) in the arguments of a call
/// or in the list of a graph's inputs or outputs, and the arguments that are not tensors.
void collect_edges(const Value& value, List& edges) {
  if (is_object(value) && class_of(value) == "__keras_tensor__")
    return edges.push_back(config_of(value.as_dict()).at("keras_history"));
  if (value.is_list()) {
    const List& items = value.as_list();
    if (items.size() >= 3 && items[0].is_string() && items[1].is_int() && items[2].is_int()) {
      edges.push_back(List{items[0], items[1], items[2]});
      for (size_t i = 3; i < items.size(); ++i) collect_edges(items[i], edges);
    } else {
      for (const Value& item : items) collect_edges(item, edges);
    }
  } else if (value.is_dict()) {
    for (const DictEntry& entry : value.as_dict())
      if (entry.key == "training" && entry.value == Value(false))
        // Ignored: models of Keras 3 use their own training mode, whatever is written here.
        continue;
      else if (entry.value.is_string() || entry.value.is_bool() || entry.value.is_number())
        edges.push_back(List{entry.key, entry.value});
      else
        collect_edges(entry.value, edges);
  }
}

/// Adds an input layer, as Crescent and Keras 3 write it, to the configuration of a Sequential.
/// Keras 2.3.1 stores the input shape in the first layer instead, and before 2.2.3 the
/// configuration is a list of layers.
Dict with_input_layer(const Value& config) {
  Dict result = config.is_list() ? Dict{{"layers", config}} : config.as_dict();
  List& layers = result["layers"].as_list();
  Dict first = config_of(layers.front().as_dict());
  const Value* shape = first.find("batch_input_shape");
  if (class_of(layers.front()) == "InputLayer" || !shape) return result;
  Dict input{{"batch_input_shape", *shape},
             {"dtype", first.contains("dtype") ? first.at("dtype") : Value("float32")},
             {"sparse", false},
             {"name", first.at("name").as_string() + "_input"}};
  first.erase("batch_input_shape");
  layers.front().as_dict().set("config", first);
  layers.insert(layers.begin(), Dict{{"class_name", "InputLayer"}, {"config", input}});
  return result;
}

/// Converts the configuration of an object from the form that Keras writes to the form that
/// Crescent writes, where the two differ for a reason.
Dict as_we_write(const Dict& object) {
  const std::string name = class_of(object);
  Dict result = object;
  Dict config = config_of(object);
  if (keras::is_sequential(name)) config = with_input_layer(object.at("config"));
  if (keras::is_sequential(name) || keras::is_functional(name))
    for (const char* option : {"trainable", "dtype"}) config.erase(option);
  // Keras 3 writes this option, but its constructors refuse it.
  if (name.starts_with("SpatialDropout")) config.erase("trainable");
  std::string one_name = name;
  to_one_form(one_name, config);
  result.set("class_name", one_name);
  if (name == "Bidirectional") {  // Keras 2.3.1 makes both directions from one layer
    config.erase("backward_layer");
    Dict& forward_config = config["layer"].as_dict()["config"].as_dict();
    const std::string forward_name = forward_config.at("name").as_string();
    if (forward_name.starts_with("forward_")) forward_config.set("name", forward_name.substr(8));
    forward_config.erase("zero_output_for_mask");
  }
  result.set("config", config);
  return result;
}

/// Replaces a list of one element by the element, for axis and metrics of tf.keras.
Value single(const std::string& key, const Value& value) {
  const bool is_single = value.is_list() && value.as_list().size() == 1;
  const bool is_wrapped = is_single && (key == "axis" || value.as_list().front().is_list());
  return is_wrapped && (key == "axis" || key == "metrics") ? Value(value.as_list().front()) : value;
}

std::string same_name(const std::string& name) {
  const auto entry = kEquivalentNames.find(name);
  return entry == kEquivalentNames.end() ? name : entry->second;
}

/// Removes the module names that tf.keras writes from 2.12 on and Keras 2.3.1 does not.
Value without_modules(const Value& value) {
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list()) items.push_back(without_modules(item));
    return items;
  }
  if (!value.is_dict()) return value;
  Dict result;
  for (const DictEntry& entry : value.as_dict())
    if (entry.key != "module" && entry.key != "registered_name")
      result.set(entry.key, without_modules(entry.value));
  return result;
}

/// Returns the normal form of a configuration, for comparison, without keys that have no meaning.
Value normal_form(const Value& value) {
  if (value.is_string()) return same_name(value.as_string());
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list()) items.push_back(normal_form(item));
    return items;
  }
  if (!value.is_dict()) return value;
  if (is_object(value) && class_of(value) == "DTypePolicy")
    return config_of(value.as_dict()).at("name");
  // Tf.keras writes a wrapper around a function; only the function is compared.
  if (is_object(value) && class_of(value).ends_with("Wrapper"))
    return config_of(value.as_dict()).at("fn");
  // Crescent writes the name of the class, Keras a name in snake case; the latter is compared.
  if (is_object(value) && class_of(value).ends_with("Accuracy"))
    return to_snake_case(class_of(value));
  Dict result;
  for (const DictEntry& entry : is_object(value) ? as_we_write(value.as_dict()) : value.as_dict()) {
    if (entry.value.is_null() || kKeysLeftOut.contains(entry.key)) continue;
    List edges;
    if (entry.key == "inbound_nodes" || entry.key.ends_with("put_layers"))
      collect_edges(entry.value, edges), result.set(entry.key, edges);
    else
      result.set(same_name(entry.key), normal_form(single(entry.key, entry.value)));
  }
  return result;
}

/// Whether the key names the module of an operation. The .h5 files of Keras omit this key, so that
/// Keras mistakes the operation `multiply` for the layer Multiply.
bool names_module_of_operation(const std::string& key, const Dict& written) {
  const std::string* module = keras::text_at(written, "module");
  return (key == "module" || key == "registered_name") && module &&
         module->starts_with("keras.src.ops.");
}

/// Collects the places where two configurations differ, such as "config/layers/1/config/units".
void compare(const Value& written, const Value& keras, const std::string& location,
             std::set<std::string>& differences) {
  if (written.is_list() && keras.is_list() && written.as_list().size() == keras.as_list().size()) {
    for (size_t i = 0; i < written.as_list().size(); ++i)
      compare(written.as_list()[i], keras.as_list()[i], concat(location, "/", i), differences);
  } else if (written.is_dict() && keras.is_dict()) {
    for (const DictEntry& entry : keras.as_dict())
      if (!written.as_dict().contains(entry.key) && !is_neutral(entry, location))
        differences.insert(concat(location, "/", entry.key, " = ", entry.value, " is not written"));
    for (const DictEntry& entry : written.as_dict()) {
      const Value* keras_value = keras.as_dict().find(entry.key);
      if (keras_value)
        compare(entry.value, *keras_value, location + "/" + entry.key, differences);
      else if (!kAddedKeys.contains(entry.key) &&
               !names_module_of_operation(entry.key, written.as_dict()))
        differences.insert(concat(location, "/", entry.key, " = ", entry.value, " is written"));
    }
  } else if (!(written == keras) && !(written == Value(true) && keras == Value(1))) {
    // The number 1 is equal to true, since Python writes either.
    differences.insert(concat(location, ": ", written, " instead of ", keras));
  }
}

// ---- comparing files

using hdf5::KerasFile;
using Names = std::vector<std::string>;

Value json(KerasFile& file, const char* attribute, bool is_keras3) {
  const auto text = file.text("", attribute);
  if (!text) return {};
  const Value value = normal_form(parse_json(*text));
  return is_keras3 ? value : without_modules(value);
}

/// The last part of a name: "kernel" of "dense_1/kernel:0".
std::string last_part(std::string name) {
  if (name.ends_with(":0")) name.resize(name.size() - 2);
  return name.substr(name.rfind('/') + 1);
}

/// Whether the names end in the same part: Keras 3 puts the names of outer layers in front, and
/// Crescent adds a number where two names would be equal.
bool ends_alike(std::string written, const std::string& keras) {
  const size_t last_non_digit = written.find_last_not_of("0123456789");
  if (last_non_digit + 1 < written.size() && written[last_non_digit] == '_' &&
      !keras.ends_with(written))
    written.resize(last_non_digit);
  return keras == written || keras.ends_with("_" + written);
}

/// Compares a list of arrays in a group: number, last parts of names, dtypes, shapes.
void compare_arrays(KerasFile& written, KerasFile& keras, const std::string& group,
                    bool compares_names, std::set<std::string>& differences) {
  const Names written_names = written.texts(group, "weight_names").value_or(Names()),
              keras_names = keras.texts(group, "weight_names").value_or(Names());
  const bool tf_keras = !keras_names.empty() && (keras_names.front().ends_with("iter:0") ||
                                                 keras_names.front().ends_with("iteration:0"));
  // Tf.keras' lists of optimizer weights are not compared. They differ from those of Keras 2.3.1
  // and of Keras 3, which Crescent writes.
  if (tf_keras) return;
  if (written_names.size() != keras_names.size()) {
    differences.insert(
        concat(group, ": ", written_names.size(), " arrays instead of ", keras_names.size()));
    return;
  }
  Names written_paths, keras_paths;
  for (size_t i = 0; i < written_names.size(); ++i) {
    written_paths.push_back(group + "/" + written_names[i]),
        keras_paths.push_back(group + "/" + keras_names[i]);
    if (compares_names && !ends_alike(last_part(written_names[i]), last_part(keras_names[i])))
      differences.insert(
          concat(group, ": '", written_names[i], "' instead of '", keras_names[i], "'"));
  }
  const std::vector<TensorSpec> specs = written.describe(written_paths),
                                wanted = keras.describe(keras_paths);
  for (size_t i = 0; i < specs.size(); ++i)
    if (!(specs[i] == wanted[i]))
      differences.insert(
          concat(written_paths[i], ": ", to_text(specs[i]), " instead of ", to_text(wanted[i])));
}

void compare_files(KerasFile& written, KerasFile& keras, bool is_keras3, bool has_mask_operations,
                   std::set<std::string>& differences) {
  for (const char* attribute : {"model_config", "training_config"})
    if (!has_mask_operations || attribute == std::string("training_config"))
      compare(json(written, attribute, is_keras3), json(keras, attribute, is_keras3), attribute,
              differences);
  const Names written_names = written.texts("model_weights", "layer_names").value(),
              keras_names = keras.texts("model_weights", "layer_names").value();
  if (written_names != keras_names) differences.insert("other layer_names");
  for (const std::string& layer : keras_names)
    compare_arrays(written, keras, "model_weights/" + layer, is_keras3, differences);
  if (is_keras3 && written.members("model_weights/top_level_model_weights").has_value() !=
                       keras.members("model_weights/top_level_model_weights").has_value())
    differences.insert("top_level_model_weights");
  compare_arrays(written, keras, "optimizer_weights", is_keras3, differences);
}

std::string scratch_file() {
  return (fs::temp_directory_path() / concat("rewritten-", getpid(), ".h5")).string();
}

void check_file(const std::string& path, const std::string& location, Tally& tally) {
  KerasFile keras(path);
  if (!keras.text("", "model_config")) return;  // the file contains weights only
  ModelPtr model;
  set_warning_handler([](std::string_view) {});
  try {
    model = load_model(path);
  } catch (const Error&) {
  }
  set_warning_handler(nullptr);
  if (!model || (keras.text("", "training_config") && !model->compiled()))
    return tally.count_skipped(location);
  const std::string version = keras.text("", "keras_version").value_or("1");
  const bool is_keras3 = version.starts_with("3");
  const std::string copy_path = scratch_file();
  try {
    save_model(*model, copy_path, {{"target", is_keras3 ? "keras3" : "keras2"}});
  } catch (const Error& error) {
    FAIL_CHECK(location << ": " << error.what());
    return;
  }
  std::set<std::string> differences;
  {
    KerasFile written(copy_path);
    compare_files(written, keras, is_keras3, kMaskOperations.contains(location), differences);
  }
  fs::remove(copy_path);
  for (const std::string& difference : differences) FAIL_CHECK(location << ": " << difference);
  tally.count_compared();
}

/// Files that need classes or code that are not available here.
const std::set<std::string> kMissingAfterwards = {"interop/k3/c09_customloss.h5",
                                                  "interop/k3/c20_lambda.h5"};

}  // namespace

TEST_CASE("a file of Keras is written again as Keras wrote it") {
  if (source() == Source::own || !is_there(folder())) return;
  Tally tally(kMissingAfterwards);
  for (const fs::path& path : files_of_models())
    if (path.extension() == ".h5" && path.parent_path() != folder())
      check_file(path.string(), fs::relative(path, folder()).string(), tally);
  tally.check();
}
