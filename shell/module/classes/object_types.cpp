#include "classes/object_types.h"

#include <algorithm>

#include "crescent/layer/layer.h"
#include "crescent/model/model.h"
#include "instances/instance.h"
#include "instances/roots.h"

namespace crescent::lua {
namespace {

/// The weight with this name that belongs to the layer itself, not to a sublayer; null if there is
/// none.
const Variable* find_weight(const Variables& weights, const std::string& name) {
  for (const Variable& weight : weights)
    if (weight.name() == name) return &weight;
  return nullptr;
}

/// The names of the properties, methods, options and weights of an object.
std::vector<std::string> names_of_members(const Object& object, const HandleType& type) {
  std::vector<std::string> names = type.property_names();
  for (std::string& method : type.method_names()) names.push_back(std::move(method));
  auto* configurable = dynamic_cast<const Configurable*>(&object);
  if (configurable && configurable->info())
    for (std::string& option : configurable->info()->schema.names())
      names.push_back(std::move(option));
  if (const auto* layer = dynamic_cast<const Layer*>(&object))
    for (const Variable& weight : layer->weights()) names.push_back(weight.name());
  return names;
}

[[noreturn]] void fail_unknown(const Object& object, const HandleType& type,
                               const std::string& name) {
  const auto* layer = dynamic_cast<const Layer*>(&object);
  fail(object.class_name(), ": no attribute '", name, "'",
       did_you_mean(name, names_of_members(object, type)),
       layer && !layer->built() ? "; weights are made when it is called, or by build(shape)" : "");
}

/// Pushes the option, the weight (of a layer) or the variable (of a metric) that the key (index 2)
/// names in self (index 1). Pushes nil for a weight that a built layer does not have because of its
/// options, and for an attribute that an instance of a Lua class does not have.
int push_option(lua_State* L) {
  Object* object = to_object(L, 1);
  if (!object) fail("this object is closed");
  const std::string name = text_of(L, 2);
  auto* configurable = dynamic_cast<Configurable*>(object);
  if (configurable && configurable->info() && configurable->info()->schema.find(name)) {
    const Dict config = configurable->get_config();
    const Value* value = config.find(configurable->info()->schema.find(name)->name);
    value && !value->is_null() ? push_value(L, *value) : lua_pushnil(L);
    return 1;
  }
  if (auto* layer = dynamic_cast<Layer*>(object)) {
    const Variables weights = layer->weights();
    if (const Variable* weight = find_weight(weights, name)) return push(L, *weight), 1;
    const bool is_optional_weight =
        layer->info() && layer->info()->schema.find(concat(name, "_initializer"));
    if (layer->built() && is_optional_weight) return lua_pushnil(L), 1;
  }
  if (const auto* metric = dynamic_cast<const Metric*>(object)) {
    const Variables variables = metric->variables();
    if (const Variable* variable = find_weight(variables, name)) return push(L, *variable), 1;
  }
  if (dynamic_cast<Instance*>(object)) return lua_pushnil(L), 1;
  fail_unknown(*object, *type_of(L, 1), name);
}

/// The end of the error message for an assignment to `name` that the object at stack index 1 does
/// not allow: that the name is an option or a variable, or else a similar name; "" for a property,
/// which needs no reason.
std::string reason_against_setting(lua_State* L, const HandleType& type, const std::string& name) {
  if (type.find_getter(name)) return "";
  Object* object = to_object(L, 1);
  auto* configurable = dynamic_cast<Configurable*>(object);
  const bool has_options = configurable && configurable->info();
  if (has_options && configurable->info()->schema.find(name))
    return concat(": it is an option, given when the ", type.name(), " is made");
  if (auto* layer = dynamic_cast<Layer*>(object); layer && find_weight(layer->weights(), name))
    return concat(": it is a variable, ", name, ":assign(value) sets its values");
  const std::vector<std::string> methods = type.method_names();
  if (std::find(methods.begin(), methods.end(), name) != methods.end())
    return concat(": it is a method, which a derived class may override");
  return did_you_mean(name, names_of_members(*object, type));
}

extern "C" int close_object(lua_State* L) {
  mark_roots_outdated();
  return close_handle<ObjectPtr>(L);
}

/// Pushes the metatable of objects of this type.
void push_metatable(lua_State* L, const HandleType& type) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &type) == LUA_TTABLE) return;
  lua_pop(L, 1);
  type.create(L, &type, close_object);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &type);
  mark_objects(L);
}

/// The text of an option: " learning_rate=0.001" for a number, string or boolean, the name of the
/// class for an object, "" for other values.
std::string option_text(const std::string& name, const Value& value) {
  constexpr size_t kMaxLength = 40;
  if (value.is_null() || value.is_list()) return "";
  const Value* class_name = value.is_dict() ? value.as_dict().find("class_name") : nullptr;
  if (value.is_dict() && !class_name) return "";
  const Value& printed_value = class_name ? *class_name : value;
  const std::string text = printed_value.is_object()   ? printed_value.as_object()->class_name()
                           : printed_value.is_string() ? printed_value.as_string()
                                                       : to_text(printed_value);
  return text.empty() || text.size() > kMaxLength ? "" : concat(" ", name, "=", text);
}

/// The text of the options that differ from their defaults, and of the learning rate of an
/// optimizer.
std::string options_text(const Configurable& object) {
  std::string text;
  if (!object.info() || dynamic_cast<const Instance*>(&object)) return text;
  const Dict config = object.get_config();
  for (const Field& field : object.info()->schema.fields) {
    const Value* value = config.find(field.name);
    const bool is_shown =
        field.name == "learning_rate" || field.name == "name" ||
        (!field.keyword_only && value && to_text(*value) != to_text(field.default_value));
    if (value && is_shown) text += option_text(field.name, *value);
  }
  return text;
}

int64_t parameters_of(const Model& model) {
  int64_t count = 0;
  for (const Variable& weight : model.weights()) count += weight.shape().size();
  return count;
}

std::string text_of_layer(const Layer& layer) {
  const auto* model = dynamic_cast<const Model*>(&layer);
  if (!model) return " name=" + layer.name();
  const size_t layer_count = model->layers().size();
  const std::string parameters =
      model->built() ? concat(", ", parameters_of(*model), " parameters") : ", not built";
  return concat(" name=", layer.name(), ", ", layer_count, layer_count == 1 ? " layer" : " layers",
                parameters);
}

std::string text_of_object(Object& object) {
  std::string details;
  if (const auto* layer = dynamic_cast<const Layer*>(&object))
    details = text_of_layer(*layer);
  else if (const auto* configurable = dynamic_cast<const Configurable*>(&object))
    details = options_text(*configurable);
  return printable(concat("<", object.class_name(), details, ">"));
}

}  // namespace

HandleType& add_object_type(ObjectTypes& types) {
  HandleType& type = add_type<Object>(types, "object", nullptr);
  add_members<Configurable>(type);
  type.property(
          "class_name", [](Object& o) { return o.class_name(); }, "The name of the class.")
      .meta("__tostring", bound("tostring", &text_of_object, {"object"}))
      .missing_key_handler(raw("index", push_option))
      .unsettable_reason(reason_against_setting);
  return type;
}

ObjectTypes& object_types() {
  static ObjectTypes types;
  return types;
}

const HandleType& object_type(const Object& object) {
  const ObjectTypes& types = object_types();
  auto match = std::find_if(types.rbegin(), types.rend(),
                            [&](const ObjectType& type) { return type.matches(&object); });
  auto* configurable = dynamic_cast<const Configurable*>(&object);
  return configurable && configurable->info() ? declared_type(configurable->info(), match->type)
                                              : match->type;
}

void initialize_handle(lua_State* L, const ObjectPtr& object) {
  push_metatable(L, object_type(*object));
  lua_setmetatable(L, -2);
  reference_owned_instances(L, *object);
  if (dynamic_cast<const Layer*>(object.get())) assign_creation_number(L);
  auto* instance = dynamic_cast<Instance*>(object.get());
  if (!instance || instance->is_function()) return;
  lua_newtable(L);
  lua_setiuservalue(L, -2, kAttributes);
  instance->push_class(L);
  lua_setiuservalue(L, -2, kClass);
}

}  // namespace crescent::lua
