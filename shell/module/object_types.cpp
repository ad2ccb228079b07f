#include "object_types.h"

#include <algorithm>

#include "crescent/layer.h"
#include "instance.h"

namespace crescent::lua {
namespace {

/// A weight of the layer itself by its name.
const Variable* find_weight(const Variables& weights, const std::string& name) {
  for (const Variable& weight : weights)
    if (weight.name() == name) return &weight;
  return nullptr;
}

[[noreturn]] void fail_unknown(const Object& object, const Type& type, const std::string& name) {
  std::vector<std::string> names = type.property_names();
  for (std::string& method : type.method_names()) names.push_back(std::move(method));
  auto* configurable = dynamic_cast<const Configurable*>(&object);
  if (configurable && configurable->info())
    for (std::string& option : configurable->info()->schema.names())
      names.push_back(std::move(option));
  fail(object.class_name(), ": no attribute '", name, "'", did_you_mean(name, names));
}

/// self, key: options of a class, weights by name; attributes that instances of Lua classes do not
/// have are nil.
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
  }
  if (dynamic_cast<Instance*>(object)) return lua_pushnil(L), 1;
  fail_unknown(*object, *type_of(L, 1), name);
}

std::string text_of_object(Object& object) {
  auto* layer = dynamic_cast<Layer*>(&object);
  return printable(concat("<", object.class_name(), layer ? " name=" + layer->name() : "", ">"));
}

}  // namespace

Type& add_object_type(ObjectTypes& types) {
  Type& type = add_type<Object>(types, "object", nullptr);
  type.property("class_name", [](Object& o) { return o.class_name(); })
      .meta("__tostring", bound("tostring", &text_of_object, {"object"}))
      .missing(raw("index", push_option));
  type.method(
      "get_config", [](Configurable& c) { return c.get_config(); }, {},
      "The options that make an equal object.");
  return type;
}

const ObjectTypes& object_types() {
  static const ObjectTypes types = [] {
    ObjectTypes all;
    const Type& object = add_object_type(all);
    add_layer_types(all, object);
    add_training_types(all, object);
    add_gradient_types(all, object);
    add_random_types(all, object);
    add_run_types(all, object);
    add_dataset_type(all, object);
    return all;
  }();
  return types;
}

const void* object_type_key(const Object& object) {
  const ObjectTypes& types = object_types();
  auto match = std::find_if(types.rbegin(), types.rend(),
                            [&](const ObjectType& type) { return type.matches(&object); });
  return &match->type;
}

bool is_object_type(const Type& type) {
  const ObjectTypes& types = object_types();
  return std::any_of(types.begin(), types.end(),
                     [&](const ObjectType& other) { return &other.type == &type; });
}

}  // namespace crescent::lua
