#include "keras/configs/config_out.h"

#include <algorithm>
#include <set>

#include "crescent/registry.h"
#include "keras/configs/objects.h"

namespace crescent::keras {
namespace {

/// Initializers that Keras 2.3.1 only knows as settings of VarianceScaling.
struct Scaled {
  const char* name;
  double scale;
  const char *mode, *distribution;
};
// clang-format off
constexpr Scaled kScaled[] = {
    {"GlorotUniform", 1, "fan_avg", "uniform"}, {"GlorotNormal", 1, "fan_avg", "normal"},
    {"HeUniform", 2, "fan_in", "uniform"}, {"HeNormal", 2, "fan_in", "normal"},
    {"LecunUniform", 1, "fan_in", "uniform"}, {"LecunNormal", 1, "fan_in", "normal"},
};
// clang-format on

/// Options that Keras 2.3.1 does not have; left out while they have their default.
// clang-format off
constexpr const char* kLater[] = {
    "groups", "keepdims", "zero_output_for_mask", "synchronized", "renorm", "renorm_momentum",
    "rms_scaling", "centered", "output_padding", "dilation_rate", "sparse", "ragged", "optional",
    "use_ema", "ema_momentum", "name", "momentum", "initial_accumulator_value", "weight_decay",
    "flash_attention", "use_gate", "sliding_window",
};
// clang-format on

struct Renamed {
  const char *class_name, *here, *keras;
};
constexpr Renamed kRenamed[] = {{"LeakyReLU", "negative_slope", "alpha"}};

/// Lists of ours that are single numbers in Keras.
struct Single {
  const char *class_name, *option;
};
constexpr Single kSingle[] = {
    {"BatchNormalization", "axis"}, {"Dot", "axes"}, {"UnitNormalization", "axis"}};

bool is_model(const std::string& name) { return is_sequential(name) || is_functional(name); }

Dict object(std::string name, Dict config) {
  return {{"class_name", std::move(name)}, {"config", std::move(config)}};
}

class Writer {
 public:
  explicit Writer(const std::string& target)
      : first_node_(target == "keras2" ? 1 : 0), names_modules_(target != "keras2") {}

  Value model(const Value& model) const {
    if (class_of(model) == "Sequential")
      return object("Sequential", sequential(model.as_dict().at("config").as_dict()));
    const Dict& config = model.as_dict().at("config").as_dict();
    return config.contains("layers") ? object("Model", functional(config))
                                     : object(class_of(model), options(class_of(model), config));
  }

  Value value(const Value& value) const {
    if (value.is_list()) {
      List items;
      for (const Value& item : value.as_list()) items.push_back(this->value(item));
      return items;
    }
    if (value == Value("hard_sigmoid_keras2")) return "hard_sigmoid";
    if (!value.is_dict()) return value;
    const Value* name = value.as_dict().find("class_name");
    if (name && name->is_string()) return any_object(value);
    Dict result;
    for (const DictEntry& entry : value.as_dict()) result.set(entry.key, this->value(entry.value));
    return result;
  }

 private:
  Value any_object(const Value& value) const {
    const std::string& name = class_of(value);
    const Value* config = value.as_dict().find("config");
    if (!config || !config->is_dict()) return value;
    if (is_model(name)) return model(value);
    if (name == "InputLayer") return object(name, input_options(config->as_dict()));
    for (const Scaled& row : kScaled)
      if (name == row.name) return object("VarianceScaling", scaled(row, config->as_dict()));
    if (name == "L1" || name == "L2") return object("L1L2", penalty(config->as_dict()));
    return object(name, options(name, config->as_dict()));
  }

  static Dict scaled(const Scaled& row, const Dict& config) {
    Dict result{{"scale", row.scale}, {"mode", row.mode}, {"distribution", row.distribution}};
    if (const Value* seed = config.find("seed"); seed && !seed->is_null())
      result.set("seed", *seed);
    return result;
  }

  static Dict penalty(const Dict& config) {
    Dict result{{"l1", 0.0}, {"l2", 0.0}};
    for (const DictEntry& entry : config) result.set(entry.key, entry.value);
    return result;
  }

  static Dict input_options(const Dict& config) {
    const Value* dtype = config.find("dtype");
    bool plain = dtype && dtype->is_string() && dtype->as_string().find('_') == std::string::npos;
    return {{"batch_input_shape", config.at("batch_input_shape")},
            {"dtype", plain ? *dtype : Value("float32")},
            {"sparse", false},
            {"name", config.at("name")}};
  }

  static bool left_out(const Field* field, const std::string& option, const Value& value) {
    if (!field) return false;
    if (value.is_null() && field->default_value.is_null()) return true;
    bool later = std::find(std::begin(kLater), std::end(kLater), option) != std::end(kLater);
    return later && value == field->default_value;
  }

  Dict options(const std::string& name, const Dict& config) const {
    auto info = find_class(name);
    Dict result;
    for (const DictEntry& entry : config) {
      const Field* field = info ? info->schema.find(entry.key) : nullptr;
      if (left_out(field, entry.key, entry.value)) continue;
      std::string option = entry.key;
      for (const Renamed& row : kRenamed)
        if (name == row.class_name && option == row.here) option = row.keras;
      result.set(option, single(name, option) ? first_of(entry.value) : inside(entry.value));
    }
    if (name == "Bidirectional") drop_implied_direction(result);
    return result;
  }

  /// An option's value. Keras 3 looks up a layer inside another by its module.
  Value inside(const Value& given) const {
    if (given.is_list()) {
      List items;
      for (const Value& item : given.as_list()) items.push_back(inside(item));
      return items;
    }
    Value result = value(given);
    if (!names_modules_ || !is_object(result)) return result;
    const std::string name = class_of(result);
    const auto info = registry().find("layer", name);
    if (!info) return result;
    const bool foreign = info->origin == "Lua";
    result.as_dict().set("module", foreign ? Value() : Value("keras.layers"));
    result.as_dict().set("registered_name", foreign ? Value(name) : Value());
    return result;
  }

  /// Keras 2.3.1 knows no backward_layer and puts "forward_" before the name itself; the others
  /// make of one layer what we have unless the user gave two.
  static void drop_implied_direction(Dict& config) {
    const std::string prefix = "forward_";
    Dict& ahead = config["layer"].as_dict()["config"].as_dict();
    const std::string* name = text_at(ahead, "name");
    const std::string plain = name && name->starts_with(prefix) ? name->substr(prefix.size())
                              : name                            ? *name
                                                                : "";
    Value implied = config.at("layer");
    Dict& back = implied.as_dict()["config"].as_dict();
    const Value* direction = ahead.find("go_backwards");
    back.set("go_backwards", !(direction && direction->is_bool() && direction->as_bool()));
    back.set("name", "backward_" + plain);
    const Value* given = config.find("backward_layer");
    if (!given || !(*given == implied)) return;
    config.erase("backward_layer");
    ahead.set("name", plain);
  }

  static bool single(const std::string& name, const std::string& option) {
    return std::any_of(std::begin(kSingle), std::end(kSingle), [&](const Single& row) {
      return name == row.class_name && option == row.option;
    });
  }

  static Value first_of(const Value& list) {
    return list.is_list() && list.as_list().size() == 1 ? Value(list.as_list().front()) : list;
  }

  /// With the input as an entry of its own: Keras 3 misreads batch_input_shape of a first layer of
  /// Keras 2.
  Dict sequential(const Dict& config) const {
    List layers;
    for (const Value& entry : config.at("layers").as_list()) {
      Value layer = any_object(entry);
      Dict& options = layer.as_dict()["config"].as_dict();
      if (layers.empty() && class_of(layer) != "InputLayer" &&
          options.contains("batch_input_shape"))
        layers.push_back(object("InputLayer", implied_input(options)));
      if (class_of(layer) != "InputLayer") options.erase("batch_input_shape");
      layers.push_back(std::move(layer));
    }
    Dict result;
    if (const Value* name = config.find("name")) result.set("name", *name);
    bool has_input = !layers.empty() && class_of(layers.front()) == "InputLayer";
    result.set("layers", std::move(layers));
    const Value* shape = config.find("build_input_shape");
    if (shape && !shape->is_null() && !has_input) result.set("build_input_shape", *shape);
    return result;
  }

  static Dict implied_input(const Dict& first) {
    const Value* name = first.find("name");
    Dict config{{"batch_input_shape", first.at("batch_input_shape")},
                {"name", (name ? name->as_string() + "_" : "") + "input"}};
    if (const Value* dtype = first.find("dtype")) config.set("dtype", *dtype);
    return input_options(config);
  }

  Dict functional(const Dict& config) const {
    std::set<std::string> models;
    for (const Value& entry : config.at("layers").as_list())
      if (is_model(class_of(entry))) models.insert(entry.as_dict().at("name").as_string());
    List layers;
    for (const Value& entry : config.at("layers").as_list()) {
      Value layer = any_object(entry);
      List nodes;
      for (const Value& node : entry.as_dict().at("inbound_nodes").as_list())
        nodes.push_back(references(node, models));
      layer.as_dict().set("name", entry.as_dict().at("name"));
      layer.as_dict().set("inbound_nodes", std::move(nodes));
      layers.push_back(std::move(layer));
    }
    Dict result;
    if (const Value* name = config.find("name")) result.set("name", *name);
    result.set("layers", std::move(layers));
    for (const char* ends : {"input_layers", "output_layers"})
      result.set(ends, references(config.at(ends), models));
    return result;
  }

  Value references(const Value& list, const std::set<std::string>& models) const {
    List result;
    for (const Value& item : list.as_list()) {
      List parts = item.as_list();
      if (models.count(parts[0].as_string())) parts[1] = parts[1].as_int() + first_node_;
      if (parts.size() > 3) parts[3] = argument(parts[3], models);
      result.push_back(std::move(parts));
    }
    return result;
  }

  /// An argument of a call; edges of the graph inside it as tf.keras writes them: [layer, node,
  /// tensor].
  Value argument(const Value& value, const std::set<std::string>& models) const {
    if (value.is_list()) {
      List items;
      for (const Value& item : value.as_list()) items.push_back(argument(item, models));
      return items;
    }
    if (!value.is_dict()) return value;
    if (is_object(value) && class_of(value) == "__keras_tensor__")
      return references(List{config_of(value.as_dict()).at("keras_history")}, models)
          .as_list()
          .front();
    Dict dict;
    for (const DictEntry& entry : value.as_dict())
      dict.set(entry.key, argument(entry.value, models));
    return dict;
  }

  int64_t first_node_;
  bool names_modules_;
};

}  // namespace

Value keras_model_config(const Value& model, const std::string& target) {
  return Writer(target).model(model);
}

Value keras_training_config(const Value& compile) {
  Writer writer("keras3");
  const Dict& given = compile.as_dict();
  auto argument = [&](const char* name) {
    const Value* value = given.find(name);
    return value ? writer.value(*value) : Value();
  };
  return Dict{{"optimizer_config", argument("optimizer")},
              {"loss", argument("loss")},
              {"metrics", argument("metrics")},
              {"weighted_metrics", argument("weighted_metrics")},
              {"sample_weight_mode", Value()},
              {"loss_weights", argument("loss_weights")}};
}

}  // namespace crescent::keras
