#include "model/config.h"

#include <algorithm>
#include <map>

#include "crescent/io/format.h"
#include "layer/built_input_shapes.h"
#include "layer/input_layer.h"
#include "model/constants.h"
#include "registry/shared_objects.h"

namespace crescent {
namespace {

const std::string& text_at(const Dict& dict, std::string_view key, const char* kind) {
  const Value* value = dict.find(key);
  if (!value || !value->is_string())
    fail("expected a ", kind, " with '", key, "', got ", Value(dict));
  return value->as_string();
}

const List& list_at(const Dict& dict, std::string_view key, const char* kind) {
  const Value* value = dict.find(key);
  if (!value || !value->is_list())
    fail("expected a ", kind, " with a list '", key, "', got ", Value(dict));
  return value->as_list();
}

/// How the inputs or outputs of a graph are nested; `side` is "input" or "output". For inputs or
/// outputs in a dictionary, files of earlier versions store only the list of its keys.
Value structure_in(const Dict& config, std::string_view side) {
  if (const Value* structure = config.find(concat(side, "_structure"))) return *structure;
  const Value* keys = config.find(concat(side, "_keys"));
  return keys ? structure_of_keys(Codec<std::vector<std::string>>::decode(*keys)) : Value();
}

std::string name_in(const Dict& config) {
  const Value* name = config.find("name");
  return name && name->is_string() ? name->as_string() : "";
}

/// A reference ["dense_1", 0, 0] to an output of a layer's call: the name of the layer, the number
/// of the call and the number of the output. A dictionary of call arguments may follow.
struct Reference {
  std::string layer;
  size_t node = 0, tensor = 0;
  Dict arguments;

  explicit Reference(const Value& value) {
    if (!value.is_list() || value.as_list().size() < 3)
      fail("expected [layer, node, tensor], got ", value);
    const List& items = value.as_list();
    layer = items[0].as_string();
    if (items[1].as_int() < 0 || items[2].as_int() < 0)
      fail("expected [layer, node, tensor], got ", value);
    node = static_cast<size_t>(items[1].as_int());
    tensor = static_cast<size_t>(items[2].as_int());
    if (items.size() > 3 && items[3].is_dict()) arguments = items[3].as_dict();
  }
};

std::vector<Reference> references(const Value& value) {
  std::vector<Reference> result;
  if (!value.is_list()) fail("expected a list of [layer, node, tensor], got ", value);
  const List& items = value.as_list();
  if (!items.empty() && items.front().is_string()) return {Reference(value)};
  for (const Value& item : items) result.emplace_back(item);
  return result;
}

/// Builds a graph from the configurations of its layers by calling them. A call is delayed until
/// its inputs exist.
class GraphBuilder {
 public:
  explicit GraphBuilder(const List& layers) {
    for (const Value& item : layers) add(item.as_dict());
    while (make_ready_calls()) {
    }
    for (const PendingLayer& pending : layers_)
      if (pending.made_call_count < pending.inputs_of_calls.size())
        fail("Layer ", pending.layer->name(), ": call ", pending.made_call_count,
             " in the configuration needs outputs that nothing computes");
  }
  std::vector<Symbol> symbols(const Value& value) const {
    std::vector<Symbol> found_symbols;
    for (const Reference& reference : references(value)) {
      const Symbol* symbol = find(reference);
      if (!symbol)
        fail("the configuration has no output ", reference.tensor, " of call ", reference.node,
             " of layer ", reference.layer);
      found_symbols.push_back(*symbol);
    }
    return found_symbols;
  }

 private:
  struct PendingLayer {
    LayerPtr layer;
    std::vector<std::vector<Reference>> inputs_of_calls;
    size_t made_call_count = 0;
  };

  void add(const Dict& layer_config) {
    PendingLayer pending_layer;
    pending_layer.layer = layer_from_config(layer_config);
    const Value* config_name = layer_config.find("name");
    const std::string name = config_name && config_name->is_string() ? config_name->as_string()
                                                                     : pending_layer.layer->name();
    if (outputs_.contains(name))
      fail("The name \"", name,
           "\" is used 2 times in the model. All layer names should be unique.");
    auto& outputs = outputs_[name];
    if (auto input = std::dynamic_pointer_cast<InputLayer>(pending_layer.layer))
      outputs.push_back({input->symbol()});
    if (const Value* nodes = layer_config.find("inbound_nodes"); nodes && nodes->is_list())
      for (const Value& node : nodes->as_list())
        pending_layer.inputs_of_calls.push_back(references(node));
    layer_names_.push_back(name);
    layers_.push_back(std::move(pending_layer));
  }

  const Symbol* find(const Reference& reference) const {
    const auto it = outputs_.find(reference.layer);
    if (it == outputs_.end() || reference.node >= it->second.size() ||
        reference.tensor >= it->second[reference.node].size())
      return nullptr;
    return &it->second[reference.node][reference.tensor];
  }

  /// Makes every delayed call whose inputs exist; returns false when there is none.
  bool make_ready_calls() {
    bool has_progressed = false;
    for (size_t i = 0; i < layers_.size(); ++i)
      while (layers_[i].made_call_count < layers_[i].inputs_of_calls.size() &&
             try_call(layers_[i], layer_names_[i]))
        has_progressed = true;
    return has_progressed;
  }

  /// In the value of a call argument, replaces references to outputs of other calls by symbols, and
  /// encoded constants by tensors. Returns false if such a call has not been made yet.
  bool resolve(Value& value) const {
    if (value.is_list())
      return std::all_of(value.as_list().begin(), value.as_list().end(),
                         [&](Value& item) { return resolve(item); });
    if (!value.is_dict()) return true;
    if (auto constant = decode_constant(value)) {
      value = *std::move(constant);
      return true;
    }
    Dict& dict = value.as_dict();
    const Value* class_name = dict.find("class_name");
    if (class_name && *class_name == Value("__keras_tensor__")) {
      const Symbol* symbol = find(Reference(dict.at("config").as_dict().at("keras_history")));
      if (symbol) value = Value(std::make_shared<BoxedSymbol>(*symbol));
      return symbol;
    }
    return std::all_of(dict.begin(), dict.end(),
                       [&](DictEntry& entry) { return resolve(entry.value); });
  }

  bool try_call(PendingLayer& pending, const std::string& name) {
    std::vector<Symbol> inputs;
    CallOptions options;
    for (const Reference& reference : pending.inputs_of_calls[pending.made_call_count]) {
      const Symbol* symbol = find(reference);
      if (!symbol) return false;
      inputs.push_back(*symbol);
      for (const DictEntry& argument : reference.arguments) {
        if (argument.value.is_null()) continue;
        if (argument.key == "training") {
          options.training = argument.value.as_bool();
          continue;
        }
        if (argument.key == kInputStructure) {
          options.structure = argument.value;
          continue;
        }
        Value value = argument.value;
        if (!resolve(value)) return false;
        options.arguments.set(argument.key, std::move(value));
      }
    }
    if (inputs.empty()) fail("Layer ", name, ": a call in the configuration has no inputs");
    outputs_[name].push_back((*pending.layer)(inputs, options));
    ++pending.made_call_count;
    return true;
  }

  std::vector<PendingLayer> layers_;
  std::vector<std::string> layer_names_;
  /// The outputs of each call of a layer, by the name of the layer.
  std::map<std::string, std::vector<std::vector<Symbol>>> outputs_;
};

}  // namespace

LayerPtr layer_from_config(const Dict& object) {
  if (const auto existing_layer = shared_object(object))
    return std::dynamic_pointer_cast<Layer>(existing_layer);
  const std::string& class_name = text_at(object, "class_name", "layer");
  if (!registry().find(Layer::kKind, class_name))
    fail("Unknown layer: ", class_name,
         did_you_mean(class_name, registry().all_names(Layer::kKind)));
  const Value* config = object.find("config");
  // Before version 2.2.3, Keras wrote the configuration of a Sequential as a bare list of layers.
  const bool is_bare_list = config && config->is_list() && !config->as_list().empty();
  const Dict options = is_bare_list                  ? Dict{{"layers", *config}}
                       : config && config->is_dict() ? config->as_dict()
                                                     : Dict();
  const auto layer = make_object(Layer::kKind, class_name, options);
  remember_shared(object, layer);
  return std::dynamic_pointer_cast<Layer>(layer);
}

std::shared_ptr<Sequential> sequential_from_config(const Dict& config) {
  const SharedObjects shared_objects(false);
  auto model = Sequential::make({}, name_in(config));
  for (const Value& item : list_at(config, "layers", "Sequential")) {
    if (!item.is_dict()) fail("Sequential: expected a layer's configuration, got ", item);
    model->add(layer_from_config(item.as_dict()));
  }
  const Value* shape = config.find("build_input_shape");
  if (shape && shape->is_list() && !model->built() && !model->operations().empty())
    model->build_for({Codec<Shape>::decode(*shape)});
  if (const Value* trainable = config.find("trainable");
      trainable && trainable->is_bool() && !trainable->as_bool())
    model->set_trainable(false);
  return model;
}

std::shared_ptr<Functional> functional_from_config(const Dict& config) {
  const SharedObjects shared_objects(false);
  const GraphBuilder builder(list_at(config, "layers", "model"));
  const Value* trainable = config.find("trainable");
  const auto model = Functional::make(
      builder.symbols(config.at("input_layers")), builder.symbols(config.at("output_layers")),
      name_in(config), !trainable || !trainable->is_bool() || trainable->as_bool(),
      {structure_in(config, "input"), structure_in(config, "output")});
  if (const Value* losses = config.find("added_losses"))
    for (const Symbol& loss : builder.symbols(*losses)) model->add_loss(loss);
  if (config.contains("added_metrics"))
    for (const Value& metric : list_at(config, "added_metrics", "model")) {
      const List& metric_parts = metric.as_list();
      model->add_metric(builder.symbols(List{metric_parts.at(1)}).front(),
                        metric_parts.at(0).as_string());
    }
  return model;
}

namespace {

constexpr const char* kBuildShape = "build_input_shape";

/// Whether the configuration of models of this class contains the shape that they were built for.
bool stores_build_shape(const std::string& class_name) {
  const auto info = registry().find(Layer::kKind, class_name);
  return info && info->schema.find(kBuildShape);
}

Value encoded_shapes(const std::vector<Shape>& shapes) {
  List list;
  for (const Shape& shape : shapes) list.push_back(Codec<Shape>::encode(shape));
  return list.size() == 1 ? list.front() : Value(std::move(list));
}

/// Builds a model by running its call on abstract tensors of these shapes, which also builds the
/// layers inside.
void build_by_call(Model& model, const Value& shapes) {
  try {
    model.compute_output_shape(shapes_from(shapes));
  } catch (const Error& error) {
    warn("Model ", model.name(), " could not be built for ", shapes, ": ", error.what(),
         "; call it on data before its weights are loaded");
  }
}

}  // namespace

std::vector<Shape> shapes_from(const Value& value) {
  const List& list = value.as_list();
  if (list.empty() || !list.front().is_list()) return {Codec<Shape>::decode(value)};
  std::vector<Shape> shapes;
  for (const Value& shape : list) shapes.push_back(Codec<Shape>::decode(shape));
  return shapes;
}

ModelPtr model_from_own_config(const Value& config) {
  const SharedObjects shared_objects(true);
  Dict object = config.as_dict();
  Value shapes;
  if (Value* options = object.find("config");
      options && options->is_dict() && !stores_build_shape(text_at(object, "class_name", "model")))
    if (const Value* build_shape = options->as_dict().find(kBuildShape)) {
      shapes = *build_shape;
      options->as_dict().erase(kBuildShape);
    }
  auto model = std::dynamic_pointer_cast<Model>(layer_from_config(object));
  if (!model)
    fail("expected the configuration of a model, got one of ",
         text_at(object, "class_name", "model"));
  if (shapes.is_list() && !model->is_graph()) build_by_call(*model, shapes);
  return model;
}

namespace {

/// Wraps a bare configuration of a model as {"class_name", "config"}; returns a wrapped one
/// unchanged.
Value wrapped_config(const Value& config) {
  if (!config.is_list() && !config.is_dict())
    fail("expected the configuration of a model, got ", config);
  if (config.is_dict() && config.as_dict().contains("class_name")) return config;
  if (config.is_list() && config.as_list().empty())
    fail("expected the configuration of a model, got an empty list");
  const bool is_graph_config = config.is_dict() && config.as_dict().contains("input_layers");
  return Dict{{"class_name", is_graph_config ? "Functional" : "Sequential"}, {"config", config}};
}

/// Replaces each class name that is a key of `custom_objects` by the name that it maps to.
Value with_renamed_classes(const Value& config, const Value& custom_objects) {
  if (config.is_list()) {
    List list;
    for (const Value& item : config.as_list())
      list.push_back(with_renamed_classes(item, custom_objects));
    return list;
  }
  if (!config.is_dict() || !custom_objects.is_dict()) return config;
  Dict dict;
  for (const DictEntry& entry : config.as_dict()) {
    const Value* new_class_name = entry.key == "class_name" && entry.value.is_string()
                                      ? custom_objects.as_dict().find(entry.value.as_string())
                                      : nullptr;
    dict.set(entry.key,
             new_class_name ? *new_class_name : with_renamed_classes(entry.value, custom_objects));
  }
  return dict;
}

}  // namespace

ModelPtr model_from_config(const Value& config, const Value& custom_objects) {
  const Value object = wrapped_config(config);
  auto translator = format_with<TranslatesConfigs>();
  return model_from_own_config(translator ? translator->config_in(object, custom_objects)
                                          : with_renamed_classes(object, custom_objects));
}

ModelPtr model_from_json(std::string_view json, const Value& custom_objects) {
  return model_from_config(parse_json(json), custom_objects);
}

Value model_config(const Model& model) {
  Dict config = with_shared_objects([&] { return model.get_config(); });
  if (const auto shapes = built_input_shapes(model);
      !shapes.empty() && !model.is_graph() && !stores_build_shape(model.class_name()))
    config.set(kBuildShape, encoded_shapes(shapes));
  return Dict{{"class_name", model.class_name()}, {"config", std::move(config)}};
}

/// If a plugin translates configurations, it gets the model itself instead of its configuration,
/// because it needs the shapes of the layers and would otherwise have to rebuild the model.
std::string Model::to_json(const Dict& options) const {
  const Value config = model_config(*this);
  if (auto translator = format_with<TranslatesConfigs>()) {
    const auto self = std::const_pointer_cast<Object>(weak_from_this().lock());
    return crescent::to_json(translator->config_out(self ? Value(self) : config, options));
  }
  if (!options.empty())
    fail("to_json: no option '", options.keys().front(),
         "': no format that translates configurations is there");
  return crescent::to_json(config);
}

ModelPtr clone_model(const Model& model) { return model_from_own_config(model_config(model)); }

}  // namespace crescent
