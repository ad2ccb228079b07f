#include "model/config.h"

#include <algorithm>
#include <map>

#include "crescent/io/format.h"
#include "layer/built_for.h"
#include "layer/input_layer.h"
#include "model/constants.h"
#include "registry/shared_objects.h"

namespace crescent {
namespace {

const std::string& text_at(const Dict& dict, std::string_view key, const char* what) {
  const Value* value = dict.find(key);
  if (!value || !value->is_string())
    fail("expected a ", what, " with '", key, "', got ", Value(dict));
  return value->as_string();
}

const List& list_at(const Dict& dict, std::string_view key, const char* what) {
  const Value* value = dict.find(key);
  if (!value || !value->is_list())
    fail("expected a ", what, " with a list '", key, "', got ", Value(dict));
  return value->as_list();
}

/// The structure of a graph's inputs or outputs. Files of earlier versions list the keys of a
/// dictionary instead.
Value structure_in(const Dict& config, std::string_view which) {
  if (const Value* structure = config.find(concat(which, "_structure"))) return *structure;
  const Value* keys = config.find(concat(which, "_keys"));
  return keys ? structure_of_keys(Codec<std::vector<std::string>>::decode(*keys)) : Value();
}

std::string name_in(const Dict& config) {
  const Value* name = config.find("name");
  return name && name->is_string() ? name->as_string() : "";
}

/// A reference to an edge, ["dense_1", 0, 0], possibly followed by arguments.
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

/// Builds a graph by calling its layers; a call is delayed until its inputs exist.
class GraphBuilder {
 public:
  explicit GraphBuilder(const List& layers) {
    for (const Value& item : layers) add(item.as_dict());
    while (make_ready_calls()) {
    }
    for (const PendingCall& layer : layers_)
      if (layer.made_node_count < layer.nodes.size())
        fail("Layer ", layer.layer->name(), ": call ", layer.made_node_count,
             " in the configuration needs outputs that nothing computes");
  }
  std::vector<Symbol> symbols(const Value& value) const {
    std::vector<Symbol> found_symbols;
    for (const Reference& r : references(value)) {
      const Symbol* symbol = find(r);
      if (!symbol)
        fail("the configuration has no output ", r.tensor, " of call ", r.node, " of layer ",
             r.layer);
      found_symbols.push_back(*symbol);
    }
    return found_symbols;
  }

 private:
  struct PendingCall {
    LayerPtr layer;
    std::vector<std::vector<Reference>> nodes;
    size_t made_node_count = 0;
  };

  void add(const Dict& object) {
    PendingCall pending_call;
    pending_call.layer = layer_from_config(object);
    const Value* own_name = object.find("name");
    const std::string name =
        own_name && own_name->is_string() ? own_name->as_string() : pending_call.layer->name();
    if (outputs_.contains(name))
      fail("The name \"", name,
           "\" is used 2 times in the model. All layer names should be unique.");
    auto& outputs = outputs_[name];
    if (auto input = std::dynamic_pointer_cast<InputLayer>(pending_call.layer))
      outputs.push_back({input->symbol()});
    if (const Value* nodes = object.find("inbound_nodes"); nodes && nodes->is_list())
      for (const Value& node : nodes->as_list()) pending_call.nodes.push_back(references(node));
    names_.push_back(name);
    layers_.push_back(std::move(pending_call));
  }

  const Symbol* find(const Reference& r) const {
    const auto it = outputs_.find(r.layer);
    if (it == outputs_.end() || r.node >= it->second.size() ||
        r.tensor >= it->second[r.node].size())
      return nullptr;
    return &it->second[r.node][r.tensor];
  }

  /// Makes every delayed call whose inputs exist; returns false when there is none.
  bool make_ready_calls() {
    bool has_progressed = false;
    for (size_t i = 0; i < layers_.size(); ++i)
      while (layers_[i].made_node_count < layers_[i].nodes.size() && call(layers_[i], names_[i]))
        has_progressed = true;
    return has_progressed;
  }

  /// Replaces references to edges in an argument's value by symbols, and constants by tensors;
  /// returns false when an edge does not exist yet.
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

  bool call(PendingCall& pending, const std::string& name) {
    std::vector<Symbol> inputs;
    CallOptions options;
    for (const Reference& r : pending.nodes[pending.made_node_count]) {
      const Symbol* symbol = find(r);
      if (!symbol) return false;
      inputs.push_back(*symbol);
      for (const DictEntry& argument : r.arguments) {
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
    ++pending.made_node_count;
    return true;
  }

  std::vector<PendingCall> layers_;
  std::vector<std::string> names_;
  // outputs of each call, by name of the layer
  std::map<std::string, std::vector<std::vector<Symbol>>> outputs_;
};

}  // namespace

LayerPtr layer_from_config(const Dict& object) {
  if (const auto known = shared_object(object)) return std::dynamic_pointer_cast<Layer>(known);
  const std::string& class_name = text_at(object, "class_name", "layer");
  if (!registry().find(Layer::kKind, class_name))
    fail("Unknown layer: ", class_name,
         did_you_mean(class_name, registry().all_names(Layer::kKind)));
  const Value* config = object.find("config");
  // the form that Keras before 2.2.3 wrote for a Sequential
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

/// Whether models of the class store in their configuration the shape that they were built for.
bool knows_build_shape(const std::string& class_name) {
  const auto info = registry().find(Layer::kKind, class_name);
  return info && info->schema.find(kBuildShape);
}

Value encoded(const std::vector<Shape>& shapes) {
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
      options && options->is_dict() && !knows_build_shape(text_at(object, "class_name", "model")))
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

/// Replaces the names of classes to which custom_objects gives another name.
Value renamed(const Value& config, const Value& custom) {
  if (config.is_list()) {
    List list;
    for (const Value& item : config.as_list()) list.push_back(renamed(item, custom));
    return list;
  }
  if (!config.is_dict() || !custom.is_dict()) return config;
  Dict dict;
  for (const DictEntry& entry : config.as_dict()) {
    const Value* new_value = entry.key == "class_name" && entry.value.is_string()
                                 ? custom.as_dict().find(entry.value.as_string())
                                 : nullptr;
    dict.set(entry.key, new_value ? *new_value : renamed(entry.value, custom));
  }
  return dict;
}

}  // namespace

ModelPtr model_from_config(const Value& config, const Value& custom_objects) {
  const Value object = wrapped_config(config);
  auto translator = format_with<TranslatesConfigs>();
  return model_from_own_config(translator ? translator->config_in(object, custom_objects)
                                          : renamed(object, custom_objects));
}

ModelPtr model_from_json(std::string_view json, const Value& custom_objects) {
  return model_from_config(parse_json(json), custom_objects);
}

Value model_config(const Model& model) {
  Dict config = with_shared_objects([&] { return model.get_config(); });
  if (const auto shapes = built_for(model);
      !shapes.empty() && !model.is_graph() && !knows_build_shape(model.class_name()))
    config.set(kBuildShape, encoded(shapes));
  return Dict{{"class_name", model.class_name()}, {"config", std::move(config)}};
}

/// The format that translates configurations gets the model itself too, so that it need not rebuild
/// the model to infer shapes.
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
