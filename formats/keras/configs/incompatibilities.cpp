#include "keras/configs/incompatibilities.h"

#include <algorithm>
#include <set>

#include "crescent/base/structure.h"
#include "crescent/registry/registry.h"
#include "keras/configs/config_out.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/configs/training_config_out.h"
#include "keras/graphs/operation_nodes.h"
#include "keras/vocabulary/formulas.h"
#include "keras/vocabulary/keras2_vocabulary.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// A class or function with a formula of Keras 2 that Keras 3 has not kept.
struct Keras2OnlyName {
  const char *name, *reason;
};
constexpr Keras2OnlyName kKeras2OnlyNames[] = {
    {"hard_sigmoid_keras2",
     "Keras 3's hard_sigmoid is another function than Keras 2's, which this layer has"},
    {"bilinear_keras2",
     "Keras 3 samples between the middles of cells, Keras 2.3.1 between their beginnings"},
    {kActivityKeras2, "Keras 3 divides the penalty by the batch size, Keras 2 does not"}};

std::string missing_message(std::string_view kind, const std::string& name) {
  return concat("Keras 2.3.1 has no ", kind, " '", name, "'");
}

/// The message for a metric that is saved as an object: Keras 2.3.1 writes such objects but cannot
/// read them (tf.keras can).
std::string metric_object_message(const std::string& name) {
  return concat("Keras 2.3.1 reads no objects such as ", name,
                ": it opens the file with compile=False");
}

/// The class of this kind with this name; null if there is none.
std::shared_ptr<const ClassInfo> class_named(std::string_view kind, const std::string& name) {
  return kind.empty() ? nullptr : registry().find(kind, name);
}

constexpr const char* kFlippedOnTheano[] = {"Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose",
                                            "ConvLSTM2D"};

class IncompatibilitySearch {
 public:
  explicit IncompatibilitySearch(bool is_for_keras2) : is_for_keras2_(is_for_keras2) {}

  /// Checks a layer or a model. `outer_name` is the name of the outer layer of a layer that is
  /// inside another one; messages name it.
  void check_layer(const Dict& object, const std::string& outer_name = "") {
    const std::string name = class_of(object);
    const Dict config = config_of(object);
    const std::string layer_name = name_of_layer(object);
    if (!is_for_keras2_ && layer_name.find('/') != layer_name.npos)
      add(concat("layer '", layer_name, "'"), "name", "Keras 3 takes no '/' in names");
    if (name != "InputLayer" && object.contains(kSharedId) &&
        shared_layers_.insert(layer_name).second)
      add_minor(concat("layer '", layer_name, "'"), "",
                "models share it; Keras makes a layer with the same weights at each place");
    has_flipped_kernels_ |=
        std::count(std::begin(kFlippedOnTheano), std::end(kFlippedOnTheano), name) > 0;
    has_masks_ |= name == "Masking" || (name == "Embedding" && has_mask_zero(config));
    const std::string location =
        outer_name.empty() ? concat("layer '", layer_name, "'") : outer_name;
    if (const Value* carry_mask = config.find(kCarryMask);
        !is_for_keras2_ && has_masks_ && carry_mask && *carry_mask == Value(true))
      add_minor(location, kCarryMask,
                "Keras drops the mask here; later layers that mind a mask compute other numbers");
    const auto info = class_named("layer", name);
    const Value* quantization = config.find("quantization_config");
    if (!is_for_keras2_ && quantization && !quantization->is_null() && info &&
        info->schema.find_property("can_be_int8"))
      add_minor(location, "quantization_config",
                "Keras has no convolutions of few bits and opens no model with one");
    // If the class has an option `layers`, config["layers"] is the value of this option, not the
    // list of layers of a model.
    const bool has_layers_option = info && info->schema.find("layers");
    if (const Value* layers = config.find("layers");
        layers && layers->is_list() && !has_layers_option) {
      for (const char* structure_key : {"input_structure", "output_structure"})
        if (is_for_keras2_ && config.contains(structure_key))
          add(concat("model '", layer_name, "'"), structure_key,
              "Keras 2.3.1 knows inputs and outputs by position and by the names of their layers");
      for (const auto& [key, items] :
           {std::pair{"added_losses", "losses"}, {"added_metrics", "metrics"}})
        if (config.contains(key))
          add(concat("model '", layer_name, "'"), "",
              concat("Keras' files have no ", items, " of symbols"));
      for (const Value& each : layers->as_list()) check_layer(each.as_dict());
      return;
    }
    if (is_for_keras2_ && name == "InputLayer" && config.contains("optional"))
      add(location, "optional", "Keras 2.3.1 has a value for every input");
    if (name == "Lambda" && class_named("activation", text(config, "function"))) return;
    if (!is_for_keras2_ && name == kOperationLayer)
      if (const auto parameter = parameter_unknown_to_keras(config))
        add_minor(location, *parameter, "Keras has no such parameter of this operation");
    if (const Value* changes = config.find("sublayer_options"); changes && !changes->is_null())
      add_minor(location, "sublayer_options",
                "Keras opens no files in which layers inside this one have weights of few bits or "
                "adapters");
    check_object_of_kind("layer", name, as_written(name, config), location);
    check_calls(object, location);
  }

  /// Finds layers whose padding "same" differs if Keras 2.3.1 runs on Theano instead of TensorFlow.
  void check_padding(const Value& model) {
    if (const auto names = padded_differently_by_theano(model); !names.empty())
      add_minor(concat("layers ", join(names)), "padding",
                "Keras 2.3.1 on Theano puts the zeros of \"same\" at other ends");
  }

  void check_compile(const Dict& compile_arguments) {
    static constexpr struct {
      const char *option, *kind;
    } kCompileArguments[] = {{"optimizer", "optimizer"},
                             {"loss", "loss"},
                             {"metrics", "metric"},
                             {"weighted_metrics", "metric"}};
    for (const auto& [option, kind] : kCompileArguments)
      if (const Value* value = compile_arguments.find(option))
        check_objects(*value, kind, option, "");
    if (const Value* optimizer = compile_arguments.find("optimizer");
        is_for_keras2_ && has_flipped_kernels_ && optimizer && is_object(*optimizer) &&
        has_slots(optimizer->as_dict()))
      add_minor(
          "optimizer", "",
          "Keras 2.3.1 on Theano turns kernels of convolutions around as it reads them, but not "
          "what the optimizer remembers of them");
    const Value* weights = compile_arguments.find("mask_as_weights");
    if (has_masks_ && is_for_keras2_ != (weights && *weights == Value(true)))
      add_minor("compile", "mask_as_weights",
                is_for_keras2_ ? "Keras 2.3.1 takes the mean of a loss over what is masked too"
                               : "Keras 3 takes the mean of a loss over what is not masked");
  }

  std::vector<Incompatibility> incompatibilities;

 private:
  void add(std::string location, std::string option, std::string reason) {
    incompatibilities.push_back({std::move(location), std::move(option), std::move(reason)});
  }
  void add_minor(std::string location, std::string option, std::string reason) {
    incompatibilities.push_back({std::move(location), std::move(option), std::move(reason), false});
  }
  static std::string text(const Dict& dict, const char* key) {
    const std::string* value = text_at(dict, key);
    return value ? *value : "";
  }

  /// Checks a value that is an object of this kind or its name, or a list or dictionary of such
  /// values.
  void check_objects(const Value& value, const std::string& kind, const std::string& location,
                     const std::string& option) {
    if (is_for_keras2_ && metric_chosen_by_keras2(value)) return;
    if (value.is_list()) {
      for (const Value& item : value.as_list()) check_objects(item, kind, location, option);
    } else if (value.is_string()) {
      check_name(value.as_string(), kind, location, option);
    } else if (is_object(value)) {
      check_object(value.as_dict(), kind, location, option);
    } else if (value.is_dict()) {
      for (const DictEntry& entry : value.as_dict())
        check_objects(entry.value, kind, location, option);
    }
  }

  void check_name(const std::string& name, const std::string& kind, const std::string& location,
                  const std::string& option) {
    if (!is_for_keras2_) return check_keras2_only_name(name, location, option);
    const auto info = class_named(kind, name);
    if (kind == "activation" && name != "hard_sigmoid_keras2" && info && !is_foreign(*info)) {
      if (!keras2_has_activation(name)) add(location, option, missing_message(kind, name));
      if (name == "hard_sigmoid")
        add(location, option, "Keras 2's hard_sigmoid is another function than Keras 3's");
    } else if (info && !is_foreign(*info) && (kind == "loss" || kind == "metric") &&
               !keras2_has_class(kind, info->name) && name != "cosine_similarity") {
      add(location, option, missing_message(kind, name));
    } else if (info && !is_foreign(*info) && kind == "metric" &&
               keras2_has_no_function(info->name)) {
      add_minor(location, option, metric_object_message(info->name));
    }
  }

  void check_keras2_only_name(const std::string& name, const std::string& location,
                              const std::string& option) {
    for (const Keras2OnlyName& row : kKeras2OnlyNames)
      if (name == row.name) add(location, option, row.reason);
  }

  void check_object(const Dict& object, const std::string& expected, const std::string& location,
                    const std::string& option) {
    const std::string name = class_of(object), kind = kind_given(expected, name);
    if (is_for_keras2_ && kind != expected)
      return add(location, option, concat("Keras 2.3.1 takes no ", kind, " as an ", expected));
    if (!is_for_keras2_) check_keras2_only_name(name, location, option);
    if (kind == "layer") return check_layer(object, location);
    if (kind == "schedule" && is_for_keras2_)
      return check_schedule(name, config_of(object), location);
    check_object_of_kind(kind, name, config_of(object), location, option);
  }

  /// Finds an activity regularizer that Keras 3 ignores: of a SimpleRNN, or of the layer inside a
  /// TimeDistributed.
  void check_lost_penalty(const std::string& name, const Dict& config,
                          const std::string& location) {
    const Value* wrapped_layer = name == "TimeDistributed" ? config.find("layer") : nullptr;
    const Dict config_with_penalty =
        wrapped_layer && is_object(*wrapped_layer) ? config_of(wrapped_layer->as_dict()) : config;
    const Value* penalty = config_with_penalty.find(kActivityRegularizer);
    if ((wrapped_layer || name == "SimpleRNN") && penalty && !penalty->is_null())
      add_minor(location, kActivityRegularizer,
                concat("Keras 3 leaves it out of ", wrapped_layer ? "what is in a " : "a ", name));
  }

  void check_object_of_kind(const std::string& kind, const std::string& name, const Dict& config,
                            const std::string& location, const std::string& option = "") {
    const auto info = class_named(kind, name);
    if (!info || is_foreign(*info)) return;  // a class of the user may have any options
    if (is_for_keras2_ && name == kOperationLayer)
      return add(location, option, "Keras 2.3.1 has no operations on tensors in graphs");
    if (is_for_keras2_ && !keras2_has_class(kind, name))
      return add(location, option, missing_message(kind, name));
    if (is_for_keras2_ && kind == "metric")
      return add_minor(location, option, metric_object_message(name));
    if (!is_for_keras2_ && keras3_lacks(name, ""))
      return add(location, option, concat("Keras 3 has no ", kind, " '", name, "'"));
    if (!is_for_keras2_) check_lost_penalty(name, config, location);
    for (const DictEntry& entry : config) {
      const Field* field = info->schema.find(entry.key);
      if (!field) continue;
      if (chooses_formula(name, field->name, !is_for_keras2_))
        check_formula(name, *field, entry.value, location);
      else if (is_for_keras2_)
        check_option(kind, name, *field, entry.value, location);
      else if (keras3_lacks(name, entry.key) && !(entry.value == field->default_value))
        add(location, entry.key, concat("Keras 3 has no such option of ", name));
      else if (keras3_refuses(name, entry.key, entry.value))
        add(location, entry.key, concat("Keras 3's ", name, " refuses ", entry.value));
      if (!field->kind.empty())
        check_objects(entry.value, field->kind, location, entry.key);
      else if (!is_for_keras2_ && entry.value.is_string())
        check_keras2_only_name(entry.value.as_string(), location, entry.key);
    }
  }

  void check_formula(const std::string& name, const Field& field, const Value& value,
                     const std::string& location) {
    const bool is_formula_of_keras3 = value == field.default_value;
    // without a mask, the two formulas of Concatenate give the same result
    if (is_for_keras2_ && name == "Concatenate" && !has_masks_) return;
    // this option only affects calls with initial states
    if (is_for_keras2_ && field.name == kMaskWithStates) return;
    if (is_formula_of_keras3 == is_for_keras2_ && reported_formulas_.insert(name).second)
      add_minor(location, field.name,
                concat(is_for_keras2_ ? "Keras 2.3.1" : "Keras 3", "'s formula of ", name,
                       " is another one (told once)"));
  }

  void check_option(const std::string& kind, const std::string& name, const Field& field,
                    const Value& value, const std::string& location) {
    const std::string& option = field.name;
    if (option == "dtype" && is_object(value))
      return add(location, option, "Keras 2.3.1 has no weights of few bits");
    if (option == "dtype" && value.is_string() &&
        (value.as_string().find('_') != std::string::npos || value == Value("bfloat16")))
      return add(location, option, missing_message("dtype", value.as_string()));
    if (option == kActivityRegularizer && !value.is_null() &&
        !(is_object(value) && class_of(value) == kActivityKeras2))
      return add_minor(location, option,
                       "Keras 2.3.1 does not divide the penalty by the batch size");
    if (option == "interpolation" && value == Value("bilinear"))
      return add_minor(location, option,
                       "Keras 2.3.1 samples between the beginnings of cells, not their middles");
    const bool has_no_effect = value == field.default_value || value.is_null() ||
                               option == "dtype" || option == kCarryMask ||
                               (option == "name" && kind != "layer");
    if (has_no_effect || keras2_has_option(kind, name, option)) return;
    if (option == "clipnorm")
      return add(location, option, "Keras 2.3.1 clips the norm of all gradients together");
    if (option == "data_format" && value == Value("channels_last")) return;
    add(location, option, concat("Keras 2.3.1 has no such option of ", name));
  }

  /// Checks a learning-rate schedule. Keras 2.3.1 has no schedules, only the option `decay`.
  void check_schedule(const std::string& name, const Dict& config, const std::string& location) {
    const Value *steps = config.find("decay_steps"), *stairs = config.find("staircase");
    const bool is_decay = name == "InverseTimeDecay" && steps && steps->is_number() &&
                          steps->as_float() == 1 && !(stairs && *stairs == Value(true));
    if (!is_decay) add(location, "learning_rate", missing_message("schedule", name));
  }

  /// The configuration of a layer as it is written: that of a Bidirectional lacks the
  /// backward_layer if Keras 2.3.1 derives it from the forward layer.
  Dict as_written(const std::string& name, const Dict& config) const {
    if (!is_for_keras2_ || name != "Bidirectional") return config;
    const Value layer = Dict{{"class_name", name}, {"config", config}};
    if (config_of(keras_value(layer, "layer", "keras2").as_dict()).contains("backward_layer"))
      return config;
    Dict result = config;
    result.erase("backward_layer");
    result["layer"].as_dict()["config"].as_dict().erase("zero_output_for_mask");
    return result;
  }

  void check_calls(const Dict& object, const std::string& location) {
    const Value* nodes = object.find("inbound_nodes");
    if (!nodes || !nodes->is_list()) return;
    const Value* mask_with_states = config_of(object).find(kMaskWithStates);
    for (const Value& node : nodes->as_list()) {
      if (is_for_keras2_ && has_masks_ && mask_with_states && *mask_with_states == Value(false) &&
          node.as_list().size() > 1)
        add_minor(location, kMaskWithStates, "Keras 2.3.1 minds masks where states are given, too");
      for (const Value& reference : node.as_list()) {
        if (reference.as_list().size() <= 3) continue;
        const Value& arguments = reference.as_list()[3];
        const Value* training =
            arguments.is_dict() ? arguments.as_dict().find("training") : nullptr;
        if (is_for_keras2_ && has_edge(arguments))
          return add(location, "", "Keras 2.3.1 takes no tensors by name in a call");
        if (is_for_keras2_ && arguments.is_dict() && arguments.as_dict().contains(kInputStructure))
          return add(location, "", "Keras 2.3.1 calls a layer on one tensor or a list of them");
        if (!is_for_keras2_ && training)
          return add(location, "",
                     "Keras 3 does not mind the argument training of a call in a graph");
      }
    }
  }

  static bool has_mask_zero(const Dict& embedding) {
    const Value* option = embedding.find("mask_zero");
    return option && *option == Value(true);
  }

  /// Whether the optimizer keeps variables for each weight.
  static bool has_slots(const Dict& optimizer) {
    const Value* momentum = config_of(optimizer).find("momentum");
    return class_of(optimizer) != "SGD" ||
           (momentum && momentum->is_number() && momentum->as_float() != 0);
  }

  bool is_for_keras2_;
  bool has_masks_ = false;  ///< whether a layer before the current one makes masks
  /// whether the model has a convolution, whose kernel Theano would flip
  bool has_flipped_kernels_ = false;
  std::set<std::string> reported_formulas_, shared_layers_;
};

}  // namespace

std::vector<Incompatibility> incompatibilities_of(const Value& model, const Value& compile,
                                                  const std::string& target_generation) {
  IncompatibilitySearch search(target_generation == "keras2");
  search.check_layer(model.as_dict());
  if (target_generation == "keras2") search.check_padding(model);
  if (compile.is_dict()) search.check_compile(compile.as_dict());
  return std::move(search.incompatibilities);
}

bool any_serious(const std::vector<Incompatibility>& incompatibilities) {
  return std::any_of(incompatibilities.begin(), incompatibilities.end(),
                     [](const Incompatibility& each) { return each.is_serious; });
}

std::string to_text(const std::vector<Incompatibility>& incompatibilities) {
  std::string text;
  for (const Incompatibility& each : incompatibilities)
    text += concat("\n  ", each.location,
                   each.option.empty() ? "" : ", option '" + each.option + "'", ": ", each.reason);
  return text;
}

}  // namespace crescent::keras
