#include "instances/instance.h"

#include <algorithm>
#include <unordered_set>

#include "crescent/layer.h"

namespace crescent::lua {
namespace {

constexpr int kDeepest = 8;

/// Calls visit(stack index) for the value and everything in plain tables below it.
template <class Visit>
void walk(lua_State* L, int index, Visit visit, int depth = 0) {
  index = lua_absindex(L, index);
  if (!is_plain_table(L, index)) return visit(index);
  if (depth == kDeepest) return;
  reserve(L, 4);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) walk(L, -1, visit, depth + 1);
}

bool owns(const Layer& layer, const Variable& variable) {
  const Variables weights = layer.weights();
  return std::find(weights.begin(), weights.end(), variable) != weights.end();
}

void track(lua_State* L, Layer& owner, int index) {
  walk(L, index, [&](int item) {
    if (auto* variable = to_handle<Variable>(L, item)) {
      if (!owns(owner, *variable)) owner.track(*variable);
    } else if (auto layer = object_as<Layer>(L, item)) {
      if (layer.get() != &owner) owner.track(layer);
    } else if (auto metric = object_as<Metric>(L, item)) {
      const auto& known = owner.metrics();
      if (std::find(known.begin(), known.end(), metric) == known.end()) owner.add_metric(metric);
    }
  });
}

/// Layers of a value that was an attribute, unless another attribute has them too.
void untrack(lua_State* L, Layer& owner, int index, int attributes) {
  std::unordered_set<const Layer*> held;
  walk(L, attributes, [&](int item) { held.insert(object_as<Layer>(L, item).get()); });
  walk(L, index, [&](int item) {
    if (auto layer = object_as<Layer>(L, item); layer && !held.contains(layer.get()))
      owner.untrack(layer);
  });
}

/// Objects as their configurations, so that the whole can be written to a file.
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

void Instance::adopt(lua_State* L, int class_index, int options_index) {
  class_ = Ref(L, class_index);
  push_object(L, self());
  lua_pushvalue(L, options_index);
  lua_setiuservalue(L, -2, kOptions);
  to_object(L, -1);  // C++ owns it, too
  lua_pop(L, 1);
}

void Instance::push_user_value(lua_State* L, int which) const {
  push_object(L, self());
  lua_getiuservalue(L, -1, which);
  lua_remove(L, -2);
}

void Instance::adopt_function(Ref function, std::string name) {
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
  while (lua_type(L, -1) == LUA_TTABLE) {
    lua_pushstring(L, method);
    if (lua_rawget(L, -2) != LUA_TNIL) return lua_replace(L, -2), true;
    lua_pop(L, 1);
    lua_rawgetp(L, -1, super_key());
    lua_remove(L, -2);
  }
  lua_pop(L, 1);
  return false;
}

bool Instance::has(const char* method) const {
  if (!class_) return false;
  lua_State* L = current();
  Height height(L);
  reserve(L, 8);
  return find_method(L, method);
}

void Instance::fail_undefined(lua_State* L, const char* method) const {
  Height height(L);
  class_.push(L);
  const std::vector<std::string> defined = defined_functions(L, lua_gettop(L));
  fail("the class has no ", method, "()", defined.empty() ? "" : "; it defines " + join(defined));
}

int Instance::push_method(lua_State* L, const char* method) const {
  if (function_) return function_.push(L), 0;
  if (!find_method(L, method)) fail_undefined(L, method);
  push_object(L, self());
  return 1;
}

void Instance::start() {
  if (!class_ || std::exchange(complete_, false)) return;
  lua_State* L = current();
  Height height(L);
  reserve(L, 8);
  push_user_value(L, kAttributes);
  const int attributes = lua_gettop(L);
  for (const DictEntry& entry : declared_) {
    push_value(L, entry.value);
    lua_setfield(L, attributes, entry.key.c_str());
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
  if (!layer) return;
  lua_State* L = current();
  Height height(L);
  push_user_value(L, kAttributes);
  track(L, *layer, -1);
}

Value Instance::option(const std::string& name) const {
  if (!class_) {
    const Value* value = declared_.find(name);
    return value ? *value : Value();
  }
  lua_State* L = current();
  Height height(L);
  push_user_value(L, kAttributes);
  lua_pushlstring(L, name.data(), name.size());
  lua_rawget(L, -2);
  return serialized(to_value(L, -1));
}

Dict Instance::configuration(Dict base) const {
  if (!class_) return base;
  lua_State* L = current();
  Height height(L);
  if (has("get_config")) {
    invoke(L, "get_config", 1);
    const Value own = serialized(to_dict(L, -1));
    for (const DictEntry& entry : own.as_dict()) base.set(entry.key, entry.value);
    return base;
  }
  push_user_value(L, kOptions);
  const Dict options = to_dict(L, -1);
  for (const DictEntry& entry : options)
    if (!base.contains(entry.key)) base.set(entry.key, serialized(entry.value));
  return base;
}

void set_attribute(lua_State* L) {
  if (lua_isnil(L, 2) ||
      (lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) != lua_tonumber(L, 2)))
    fail("an attribute needs a name, got ", describe(L, 2));
  lua_getiuservalue(L, 1, kAttributes);
  const int attributes = lua_gettop(L);
  lua_pushvalue(L, 2);
  lua_rawget(L, attributes);
  const int old = lua_gettop(L);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawset(L, attributes);
  auto layer = object_as<Layer>(L, 1);
  if (!layer) return;
  if (!lua_isnil(L, old) && !lua_rawequal(L, old, 3)) untrack(L, *layer, old, attributes);
  track(L, *layer, 3);
}

}  // namespace crescent::lua
