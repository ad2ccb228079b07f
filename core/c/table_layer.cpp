#include "table_layer.h"

#include "errors.h"

namespace crescent::c {
namespace {

crescent_layer* as_layer(uintptr_t handle) { return reinterpret_cast<crescent_layer*>(handle); }

/// Reads and writes an option of a TableLayer. The type of the option is that of its default value.
class OptionAccess final : public FieldAccess {
 public:
  OptionAccess(std::string name, Value default_value)
      : name_(std::move(name)), default_(std::move(default_value)) {}
  Value get(const void* object) const override {
    const Value* option = static_cast<const TableLayer*>(object)->options.find(name_);
    return option ? *option : default_;
  }
  void set(void* object, const Value& value) const override {
    static_cast<TableLayer*>(object)->options.set(name_, checked(value));
  }

 private:
  Value checked(const Value& value) const {
    if (default_.is_bool()) return value.as_bool();
    if (default_.is_int()) return value.as_int();
    if (default_.is_float()) return value.as_float();
    if (default_.is_string()) return value.as_string();
    return value;
  }

  std::string name_;
  Value default_;
};

std::string type_of(const Value& default_value) {
  return default_value.is_null() ? "any value" : describe_kind(default_value.kind());
}

Value default_of(const std::string& option, const char* json) try {
  return parse_json(json);
} catch (Error& error) {
  error.add_context(concat("option '", option, "': default_value: "));
  throw;
}

Field field_of(const crescent_option& source) {
  const auto option = read_struct(&source, "option");
  Field field;
  field.name = required_name(option.name, "option->name");
  field.doc = option.doc ? option.doc : "";
  if (option.default_value) field.default_value = default_of(field.name, option.default_value);
  field.type = type_of(field.default_value);
  field.takes_dict = field.default_value.is_null() || field.default_value.is_dict();
  field.access = std::make_shared<OptionAccess>(field.name, field.default_value);
  return field;
}

/// Adds an option to the schema. Fails if the schema already has an option of this name, for
/// example one of the options that all layers have.
void add_option(SchemaData& schema, Field field) {
  for (const Field& declared_field : schema.fields)
    if (declared_field.name == field.name)
      fail("layer '", schema.title, "' has an option '", field.name, "' already");
  schema.fields.push_back(std::move(field));
}

class TableLayerFactory final : public SchemaFactory {
 public:
  TableLayerFactory(const SchemaData& schema, const crescent_layer_class& layer_class)
      : SchemaFactory(schema), class_(layer_class) {}

 private:
  New create() const override {
    auto* layer = new TableLayer(class_);
    return {layer, layer};
  }
  const crescent_layer_class& class_;
};

}  // namespace

TableLayer::TableLayer(const crescent_layer_class& layer_class) : class_(layer_class) {
  set_supports_masking(class_.supports_masking != 0);
}

TableLayer::~TableLayer() {
  remove_handle(HandleKind::layer, as_layer(handle_));
  destroy();
}

void TableLayer::destroy() {
  if (state_ && class_.destroy) class_.destroy(state_);
  state_ = nullptr;
}

void TableLayer::configured() {
  Layer::configured();
  destroy();
  Dict all_options;
  for (size_t i = 0; i < class_.option_count; ++i) {
    const Field field = field_of(entry_of(class_.options, i, "options"));
    all_options.set(field.name, field.access->get(this));
  }
  if (class_.create) throw_if(class_.create(to_json(all_options).c_str(), &state_));
  if (handle_ == 0)
    handle_ = add_handle(HandleKind::layer, std::shared_ptr<TableLayer>(this, [](TableLayer*) {}));
}

InputCount TableLayer::input_count() const {
  if (class_.min_inputs == 0 && class_.max_inputs == 0) return {1, 1};
  return {class_.min_inputs, std::max(class_.min_inputs, class_.max_inputs)};
}

void TableLayer::build(const std::vector<Shape>& inputs) {
  if (!class_.build) return;
  std::vector<TensorSpec> specs;
  for (const Shape& shape : inputs) specs.push_back({compute_dtype(), shape});
  const SpecList list(specs);
  added_weights.clear();  // removes the weights of an earlier build that failed
  const BuildScope scope(*this);
  throw_if(class_.build(state_, as_layer(handle_), list.data(), inputs.size()));
}

Tensors TableLayer::call(const Tensors& inputs, const Call& call) {
  const LentTensors lent(inputs);
  ReturnedTensors returned(CRESCENT_MAX_RESULTS);
  size_t count = CRESCENT_MAX_RESULTS;
  throw_if(class_.call(state_, as_layer(handle_), lent.data(), lent.size(), call.training,
                       returned.data(), &count));
  Tensors results = returned.tensors(count);
  for (const Tensor& result : results)
    if (!result) fail("its call gave NULL for a tensor");
  return results;
}

TableLayer::BuildScope::BuildScope(TableLayer& layer) : layer_(layer) {
  layer_.is_building_ = true;
}
TableLayer::BuildScope::~BuildScope() { layer_.is_building_ = false; }

TableLayer& layer_of(const crescent_layer* layer) {
  require(layer, "layer");
  const auto layer_object = find_handle(HandleKind::layer, layer);
  if (!layer_object) fail_argument("'layer' is no layer");
  return *static_cast<TableLayer*>(layer_object.get());
}

void register_layer(const crescent_layer_class& layer_class, Registry& registry) {
  // The struct is never freed, because the registered class refers to it until the process ends.
  const auto* stored_class = new crescent_layer_class(read_struct(&layer_class, "layer"));
  if (!stored_class->call) fail("a layer lacks its call");
  const TableLayer defaults(*stored_class);
  Schema<TableLayer> schema(required_name(stored_class->name, "layer->name"), &defaults);
  schema.keyword_only(true);
  Layer::describe_base(schema);
  schema.doc(stored_class->doc ? stored_class->doc : "");
  ClassInfo info;
  info.kind = Layer::kKind;
  info.name = stored_class->name;
  info.schema = schema.data();
  for (size_t i = 0; i < stored_class->option_count; ++i)
    add_option(info.schema, field_of(entry_of(stored_class->options, i, "options")));
  info.factory = std::make_shared<TableLayerFactory>(info.schema, *stored_class);
  registry.add(std::move(info));
}

}  // namespace crescent::c
