#include "instances/instance.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <unordered_set>

#include "crescent/layer/layer.h"
#include "crescent/layer/metric.h"
#include "crescent/program/program.h"

namespace crescent::lua {
namespace {

constexpr int kMaxNesting = 8;
// the key in the Lua registry of a weak table {handle = creation number}
const char creation_numbers_key = 0;

/// The creation number of a handle's object: an older object has a smaller number.
lua_Integer creation_number_of(lua_State* L, int handle_index) {
  handle_index = lua_absindex(L, handle_index);
  push_weak_table(L, &creation_numbers_key, "k");
  lua_pushvalue(L, handle_index);
  lua_rawget(L, -2);
  const lua_Integer creation_number = lua_tointeger(L, -1);
  lua_pop(L, 2);
  return creation_number;
}

/// Calls visit(stack index) for the value or, if it is a plain table, for everything in it and in
/// nested tables.
template <class Visit>
void walk(lua_State* L, int index, Visit visit, int depth = 0) {
  index = lua_absindex(L, index);
  if (!is_plain_table(L, index)) return visit(index);
  if (depth == kMaxNesting) return;
  reserve(L, 4);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) walk(L, -1, visit, depth + 1);
}

/// The layers in a value: a layer, a list of the layers in a table and its nested tables, or null.
/// `creation_number` is that of the oldest layer; without layers it is the largest integer.
struct NestedLayers {
  Value value;
  lua_Integer creation_number = std::numeric_limits<lua_Integer>::max();
};

NestedLayers nested_layers_in(lua_State* L, int index, const Layer& owner, int depth = 0) {
  index = lua_absindex(L, index);
  if (const auto layer = object_as<Layer>(L, index))
    return layer.get() == &owner ? NestedLayers{}
                                 : NestedLayers{Value(layer), creation_number_of(L, index)};
  if (depth == kMaxNesting || !is_plain_table(L, index)) return {};
  reserve(L, 4);
  const auto list_length = static_cast<lua_Integer>(lua_rawlen(L, index));
  std::vector<NestedLayers> nested;
  for (lua_Integer i = 1; i <= list_length; ++i, lua_pop(L, 1)) {
    lua_rawgeti(L, index, i);
    nested.push_back(nested_layers_in(L, -1, owner, depth + 1));
  }
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const bool is_list_item =
        lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= list_length;
    if (!is_list_item) nested.push_back(nested_layers_in(L, -1, owner, depth + 1));
  }
  std::stable_sort(nested.begin() + static_cast<std::ptrdiff_t>(list_length), nested.end(),
                   [](const NestedLayers& a, const NestedLayers& b) {
                     return a.creation_number < b.creation_number;
                   });
  NestedLayers result;
  List list;
  for (NestedLayers& item : nested) {
    result.creation_number = std::min(result.creation_number, item.creation_number);
    if (!item.value.is_null()) list.push_back(std::move(item.value));
  }
  result.value = std::move(list);
  return result;
}

/// Collects the optimizers in a value and in its nested tables. Their keys are paths: the names and
/// positions in the tables that lead to the optimizer.
void collect_optimizers(lua_State* L, int index, const std::string& path, int depth,
                        std::map<std::string, std::shared_ptr<Optimizer>>& optimizers) {
  index = lua_absindex(L, index);
  if (auto optimizer = object_as<Optimizer>(L, index))
    optimizers.emplace(path, std::move(optimizer));
  if (depth > kMaxNesting || !is_plain_table(L, index)) return;
  reserve(L, 4);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    const std::string name = text_of(L, -1);
    lua_pop(L, 1);
    collect_optimizers(L, -1, path + "/" + name, depth + 1, optimizers);
  }
}

bool owns(const Layer& layer, const Variable& variable) {
  const Variables weights = layer.weights();
  return std::find(weights.begin(), weights.end(), variable) != weights.end();
}

void add_layers(const Value& value, std::vector<LayerPtr>& layers) {
  if (const auto layer = value.object_as<Layer>()) layers.push_back(layer);
  if (!value.is_list()) return;
  for (const Value& item : value.as_list()) add_layers(item, layers);
}

/// Registers the variables, metrics and layers in a value with the owner; layers in a list are
/// registered in its order.
void track(lua_State* L, Layer& owner, int index) {
  walk(L, index, [&](int item_index) {
    if (auto* variable = to_handle<Variable>(L, item_index)) {
      if (!owns(owner, *variable)) owner.track(*variable);
    } else if (auto metric = object_as<Metric>(L, item_index)) {
      const auto& metrics = owner.metrics();
      if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
        owner.add_metric(metric);
    }
  });
  std::vector<LayerPtr> layers;
  add_layers(nested_layers_in(L, index, owner).value, layers);
  for (const LayerPtr& layer : layers) owner.track(layer);
}

/// Registers the variables and metrics in a value with the metric that holds it.
void track(lua_State* L, Metric& owner, int index) {
  walk(L, index, [&](int item_index) {
    if (auto* variable = to_handle<Variable>(L, item_index))
      owner.track(*variable);
    else if (auto metric = object_as<Metric>(L, item_index))
      owner.track(metric);
  });
}

/// Registers, in the order of their creation, objects that were added to tables after the tables
/// became attributes.
void track_all(lua_State* L, Layer& owner, int attributes_index) {
  std::vector<LayerPtr> layers;
  add_layers(nested_layers_in(L, attributes_index, owner).value, layers);
  std::map<const Layer*, lua_Integer> creation_numbers;
  for (const LayerPtr& layer : layers) {
    push_object(L, layer);
    creation_numbers[layer.get()] = creation_number_of(L, -1);
    lua_pop(L, 1);
  }
  std::stable_sort(layers.begin(), layers.end(), [&](const LayerPtr& a, const LayerPtr& b) {
    return creation_numbers[a.get()] < creation_numbers[b.get()];
  });
  for (const LayerPtr& layer : layers) owner.track(layer);
  track(L, owner, attributes_index);
}

/// Removes the layers in the old value of an attribute from the owner, unless another attribute
/// contains them too.
void untrack(lua_State* L, Layer& owner, int index, int attributes_index) {
  std::unordered_set<const Layer*> kept_layers;
  walk(L, attributes_index,
       [&](int item_index) { kept_layers.insert(object_as<Layer>(L, item_index).get()); });
  walk(L, index, [&](int item_index) {
    if (auto layer = object_as<Layer>(L, item_index); layer && !kept_layers.contains(layer.get()))
      owner.untrack(layer);
  });
}

/// The value with objects replaced by their configurations, as files store it.
Value serialized(const Value& value) {
  if (value.is_list()) {
    List list;
    for (const Value& item : value.as_list()) list.push_back(serialized(item));
    return list;
  }
  if (value.is_dict()) {
    Dict dict;
    for (const DictEntry& entry : value.as_dict()) dict.set(entry.key, serialized(entry.value));
    return dict;
  }
  if (auto object = value.object_as<Configurable>()) return serialize(object.get());
  if (auto boxed = value.object_as<BoxedTensor>()) return boxed->tensor.to_vector();
  if (value.is_object())
    fail(value, " cannot be stored in a configuration; give the class a get_config of its own");
  return value;
}

}  // namespace

void assign_creation_number(lua_State* L) {
  // Atomic, since training in the background makes objects too.
  static std::atomic<lua_Integer> count = 0;
  push_weak_table(L, &creation_numbers_key, "k");
  lua_pushvalue(L, -2);
  lua_pushinteger(L, ++count);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

void Instance::adopt(lua_State* L, int class_index, int options_index) {
  class_ = Ref(L, class_index);
  push_object(L, self());
  lua_pushvalue(L, options_index);
  lua_setiuservalue(L, -2, kOptions);
  to_object(L, -1);  // to_object records that C++ may own the object from now on
  lua_pop(L, 1);
}

void Instance::push_user_value(lua_State* L, int number) const {
  push_object(L, self());
  lua_getiuservalue(L, -1, number);
  lua_remove(L, -2);
}

void Instance::set_function(Ref function, std::string name) {
  function_ = std::move(function);
  name_ = std::move(name);
}

ObjectPtr Instance::self() const {
  auto* object = dynamic_cast<const Object*>(this);
  return std::const_pointer_cast<Object>(object->shared_from_this());
}

bool Instance::find_method(lua_State* L, const char* method) const {
  push_user_value(L, kAttributes);
  lua_pushstring(L, method);
  if (lua_rawget(L, -2) != LUA_TNIL) return lua_replace(L, -2), true;
  lua_pop(L, 2);
  class_.push(L);
  lua_pushstring(L, method);
  const bool is_defined = push_member(L, lua_gettop(L) - 1);
  is_defined ? lua_remove(L, -2) : lua_pop(L, 2);
  return is_defined;
}

bool Instance::has(const char* method) const {
  if (!class_) return false;
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 8);
  return find_method(L, method);
}

void Instance::fail_undefined(lua_State* L, const char* method) const {
  StackRestorer restorer(L);
  class_.push(L);
  const std::vector<std::string> function_names = defined_functions(L, lua_gettop(L));
  fail("the class has no ", method, "()",
       function_names.empty() ? "" : "; it defines " + join(function_names));
}

int Instance::push_method(lua_State* L, const char* method) const {
  if (function_) return function_.push(L), 0;
  if (!find_method(L, method)) fail_undefined(L, method);
  push_object(L, self());
  return 1;
}

void Instance::start() {
  if (!class_ || std::exchange(skips_start_, false)) return;
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 8);
  push_user_value(L, kAttributes);
  const int attributes_index = lua_gettop(L);
  auto* layer = dynamic_cast<Layer*>(this);
  for (const DictEntry& entry : declared_options_) {
    push_value(L, entry.value);
    if (layer) track(L, *layer, -1);
    lua_setfield(L, attributes_index, entry.key.c_str());
  }
  if (has("init")) {
    push_method(L, "init");
    push_user_value(L, kOptions);
    protected_call(L, 2, 0);
  }
  track_attributes();
}

void Instance::track_attributes() {
  auto* layer = dynamic_cast<Layer*>(this);
  auto* metric = dynamic_cast<Metric*>(this);
  if (!layer && !metric) return;
  lua_State* L = current();
  StackRestorer restorer(L);
  push_user_value(L, kAttributes);
  layer ? track_all(L, *layer, lua_gettop(L)) : track(L, *metric, lua_gettop(L));
}

Dict Instance::layers_by_attribute() const {
  const auto& owner = dynamic_cast<const Layer&>(*this);
  Dict layers;
  if (!class_) return layers;
  lua_State* L = current();
  StackRestorer restorer(L);
  push_user_value(L, kAttributes);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    NestedLayers attribute = nested_layers_in(L, -1, owner);
    if (attribute.creation_number < NestedLayers{}.creation_number)
      layers.set(text_of(L, -2), std::move(attribute.value));
  }
  return layers;
}

std::vector<std::shared_ptr<Optimizer>> Instance::held_optimizers() const {
  std::map<std::string, std::shared_ptr<Optimizer>> by_path;
  if (class_) {
    lua_State* L = current();
    StackRestorer restorer(L);
    push_user_value(L, kAttributes);
    collect_optimizers(L, -1, "", 0, by_path);
  }
  std::vector<std::shared_ptr<Optimizer>> optimizers;
  for (auto& [path, optimizer] : by_path) optimizers.push_back(std::move(optimizer));
  return optimizers;
}

Value Instance::option(const std::string& name) const {
  if (!class_) {
    const Value* value = declared_options_.find(name);
    return value ? *value : Value();
  }
  lua_State* L = current();
  StackRestorer restorer(L);
  push_user_value(L, kAttributes);
  lua_pushlstring(L, name.data(), name.size());
  lua_rawget(L, -2);
  return serialized(to_value(L, -1));
}

Dict Instance::configuration(Dict base) const {
  if (!class_) return base;
  lua_State* L = current();
  StackRestorer restorer(L);
  if (has("get_config")) {
    invoke(L, "get_config", 1);
    const Value own_config = serialized(to_dict(L, -1));
    for (const DictEntry& entry : own_config.as_dict()) base.set(entry.key, entry.value);
    return base;
  }
  push_user_value(L, kOptions);
  const Dict options = to_dict(L, -1);
  for (const DictEntry& entry : options)
    if (!base.contains(entry.key)) base.set(entry.key, serialized(entry.value));
  if (!has("learned_options")) return base;
  invoke(L, "learned_options", 1);
  for (const DictEntry& entry : to_dict(L, -1)) base.set(entry.key, serialized(entry.value));
  return base;
}

Value Instance::attribute(const char* name) const {
  if (!class_) return {};
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 8);
  return find_method(L, name) ? to_value(L, lua_gettop(L)) : Value();
}

void note_traced_attribute(lua_State* L) {
  if (lua_getiuservalue(L, 1, kTraced) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, kTraced);
  }
  lua_pushvalue(L, 2);
  lua_pushboolean(L, true);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

namespace {

/// Drops the compiled programs of self (index 1) whose trace read the attribute named at index 2,
/// if its value at `new_index` differs from that at `old_index`.
void retrace_if_read(lua_State* L, int old_index, int new_index) {
  if (is_tracing() || lua_rawequal(L, old_index, new_index)) return;
  if (lua_getiuservalue(L, 1, kTraced) == LUA_TTABLE) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL) {
      lua_pushnil(L);
      lua_setiuservalue(L, 1, kTraced);
      retrace_functions();
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

}  // namespace

void set_attribute(lua_State* L) {
  if (lua_isnil(L, 2) ||
      (lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) != lua_tonumber(L, 2)))
    fail("an attribute needs a name, got ", describe(L, 2));
  lua_getiuservalue(L, 1, kAttributes);
  const int attributes_index = lua_gettop(L);
  lua_pushvalue(L, 2);
  lua_rawget(L, attributes_index);
  const int old_value_index = lua_gettop(L);
  auto layer = object_as<Layer>(L, 1);
  const bool may_hold_layers = is_plain_table(L, 3) || object_as<Layer>(L, 3);
  if (layer && may_hold_layers) track_all(L, *layer, attributes_index);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawset(L, attributes_index);
  retrace_if_read(L, old_value_index, 3);
  if (auto metric = object_as<Metric>(L, 1)) track(L, *metric, 3);
  if (!layer) return;
  if (!lua_isnil(L, old_value_index) && !lua_rawequal(L, old_value_index, 3))
    untrack(L, *layer, old_value_index, attributes_index);
  track(L, *layer, 3);
}

}  // namespace crescent::lua
