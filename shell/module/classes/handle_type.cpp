#include "classes/handle_type.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "crescent/layer/layer.h"
#include "crescent/program/program.h"
#include "instances/instance.h"

namespace crescent::lua {
namespace {

const char type_key = 0;

/// Pushes the attribute of an instance of a Lua class, or the value that its class or a parent
/// class defines; returns whether there is one.
bool push_from_instance(lua_State* L) {
  if (lua_getiuservalue(L, 1, kAttributes) != LUA_TTABLE) return lua_pop(L, 1), false;
  if (is_tracing()) note_traced_attribute(L);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) return true;
  lua_getiuservalue(L, 1, kClass);
  const int class_index = lua_gettop(L);
  lua_pushvalue(L, 2);
  if (push_member(L, class_index)) return true;
  lua_settop(L, 2);
  return false;
}

/// Whether layer:build(shape) was called by code outside of the class's own build. Then the method
/// of Layer must run, which runs the build of the class only once.
bool is_build_from_outside(lua_State* L) {
  if (std::strcmp(lua_tostring(L, 2), "build") != 0) return false;
  const auto* instance = dynamic_cast<const Instance*>(peek_object(L, 1));
  return instance && !instance->is_building();
}

/// Implements a function of Lua with the arguments handle and name: pushes the method with this
/// name of a lazy parent, that is, of a parent type that makes its methods when they are first
/// used. Pushes nil if there is none.
int push_lazy_method(lua_State* L) {
  const Callable* method = type_of(L, 1)->find_lazy_method(text_of(L, 2));
  method ? push_callable(L, *method) : lua_pushnil(L);
  return 1;
}

/// Pushes the method of a parent that makes its methods when they are first used, and adds it to
/// the table of methods, which is the first upvalue; returns whether the parent has such a method.
/// The arguments are those of crescent_index.
bool add_lazy_method(lua_State* L) {
  static const CallablePtr push_method = raw("methods", push_lazy_method);
  finish(L, run(L, *push_method));
  if (lua_isnil(L, -1)) return false;
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, lua_upvalueindex(1));
  return true;
}

/// The metamethod __index; its upvalues are the methods, the getters, the Callable for keys that
/// are neither, and whether the type has a parent that makes its methods when they are first used.
extern "C" int crescent_index(lua_State* L) {
  if (lua_type(L, 2) == LUA_TSTRING) {
    if (!is_build_from_outside(L) && push_from_instance(L)) return 1;
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) == LUA_TLIGHTUSERDATA) {
      auto* getter = static_cast<const Callable*>(lua_touserdata(L, -1));
      lua_settop(L, 1);
      return finish(L, run(L, *getter));
    }
    lua_settop(L, 2);
    if (lua_toboolean(L, lua_upvalueindex(4)) && add_lazy_method(L)) return 1;
  }
  lua_settop(L, 2);
  return finish(L, run(L, *static_cast<const Callable*>(lua_touserdata(L, lua_upvalueindex(3)))));
}

int fail_missing(lua_State* L) {
  const HandleType* type = type_of(L, 1);
  if (lua_type(L, 2) != LUA_TSTRING) fail(type->name(), ": no position ", describe(L, 2));
  std::vector<std::string> names = type->property_names();
  for (std::string& name : type->method_names()) names.push_back(std::move(name));
  const std::string name = text_of(L, 2);
  fail(type->name(), ": no attribute '", name, "'", did_you_mean(name, names));
}

/// The metamethod __newindex for self, name and value.
int assign(lua_State* L) {
  const HandleType* type = type_of(L, 1);
  const bool is_string_key = lua_type(L, 2) == LUA_TSTRING;
  const std::string name = text_of(L, 2);
  if (const Callable* setter = is_string_key ? type->find_setter(name) : nullptr) {
    lua_remove(L, 2);
    return setter->call(L);
  }
  if (!is_string_key && type->find_position_setter()) return type->find_position_setter()->call(L);
  if (lua_getiuservalue(L, 1, kAttributes) == LUA_TTABLE) {
    lua_pop(L, 1);
    for (const std::string& property : type->property_names())
      if (is_string_key && property == name) fail(type->name(), ": '", name, "' cannot be set");
    set_attribute(L);
    return 0;
  }
  const auto reason = is_string_key ? type->find_unsettable_reason() : nullptr;
  fail(type->name(), ": '", name, "' cannot be set", reason ? reason(L, *type, name) : "");
}

/// A metamethod for an operator that a type does not support. Its error message names the type,
/// while Lua's own message would only say "userdata".
class UnsupportedOperator final : public Callable {
 public:
  explicit UnsupportedOperator(const char* operation) : Callable(operation, {}, "") {}
  int call(lua_State* L) const override {
    const HandleType* type = type_of(L, 1) ? type_of(L, 1) : type_of(L, 2);
    fail(type->name(), ": no ", name());
  }
};

struct Operator {
  const char* key;
  UnsupportedOperator callable;
};

std::span<const Operator> operators() {
  static const Operator all_operators[] = {
      {"__add", UnsupportedOperator("operator +")},
      {"__sub", UnsupportedOperator("operator -")},
      {"__mul", UnsupportedOperator("operator *")},
      {"__div", UnsupportedOperator("operator /")},
      {"__mod", UnsupportedOperator("operator %")},
      {"__pow", UnsupportedOperator("operator ^")},
      {"__idiv", UnsupportedOperator("operator //")},
      {"__unm", UnsupportedOperator("operator -")},
      {"__band", UnsupportedOperator("operator &")},
      {"__bor", UnsupportedOperator("operator |")},
      {"__bxor", UnsupportedOperator("operator ~")},
      {"__shl", UnsupportedOperator("operator <<")},
      {"__shr", UnsupportedOperator("operator >>")},
      {"__bnot", UnsupportedOperator("operator ~")},
      {"__lt", UnsupportedOperator("order (<, >)")},
      {"__le", UnsupportedOperator("order (<=, >=)")},
      {"__concat", UnsupportedOperator("operator ..; use tostring(...)")},
      {"__len", UnsupportedOperator("length (#)")},
      {"__call", UnsupportedOperator("call; it is not a function")},
      {"__pairs", UnsupportedOperator("pairs")}};
  return all_operators;
}

/// Sets the field of the table on top of the stack that has the name of the function.
void set_function(lua_State* L, const Callable& function) {
  push_callable(L, function);
  lua_setfield(L, -2, function.name().c_str());
}

const Callable& default_missing_key_handler() {
  static const CallablePtr callable = raw("[]", fail_missing);
  return *callable;
}
const Callable& default_assign() {
  static const CallablePtr callable = raw("[]", assign);
  return *callable;
}

}  // namespace

HandleType::HandleType(std::string name, const HandleType* parent)
    : name_(std::move(name)), parent_(parent) {}
HandleType::HandleType(std::string name, LazyParent parent)
    : name_(std::move(name)), lazy_parent_(parent) {}
HandleType::HandleType(HandleType&&) = default;
HandleType::~HandleType() = default;

HandleType& HandleType::add(Members HandleType::*members, const std::string& name,
                            CallablePtr callable) {
  (this->*members)[name] = std::move(callable);
  return *this;
}

HandleType& HandleType::method(CallablePtr callable) {
  const std::string name = callable->name();
  return add(&HandleType::methods_, name, std::move(callable));
}
HandleType& HandleType::raw_method(std::string_view name, RawFunction::Body body,
                                   const Parameters& parameters, std::string_view doc,
                                   const SchemaData* options) {
  return method(raw(name, body, parameters.of_method("the " + name_), doc, options));
}
HandleType& HandleType::getter(CallablePtr callable) {
  const std::string name = callable->name();
  return add(&HandleType::getters_, name, std::move(callable));
}
HandleType& HandleType::setter(CallablePtr callable) {
  const std::string name = callable->name();
  return add(&HandleType::setters_, name, std::move(callable));
}
HandleType& HandleType::meta(const std::string& name, CallablePtr callable) {
  return add(&HandleType::metamethods_, name, std::move(callable));
}
HandleType& HandleType::missing_key_handler(CallablePtr callable) {
  return missing_key_handler_ = std::move(callable), *this;
}
HandleType& HandleType::position_setter(CallablePtr callable) {
  return position_setter_ = std::move(callable), *this;
}

std::vector<std::string> HandleType::method_names() const { return names(&HandleType::methods_); }
std::vector<std::string> HandleType::property_names() const { return names(&HandleType::getters_); }
const Callable* HandleType::find_method(const std::string& name) const {
  return find(&HandleType::methods_, name);
}
const Callable* HandleType::find_getter(const std::string& name) const {
  return find(&HandleType::getters_, name);
}
const Callable* HandleType::find_setter(const std::string& name) const {
  return find(&HandleType::setters_, name);
}

template <class Visit>
void HandleType::for_each_member(Members HandleType::*members, Visit visit) const {
  const HandleType* parent = members == &HandleType::methods_ ? this->parent() : parent_;
  if (parent) parent->for_each_member(members, visit);
  for (const auto& [name, callable] : this->*members) visit(name, *callable);
}

std::vector<std::string> HandleType::names(Members HandleType::*members) const {
  std::vector<std::string> names;
  for_each_member(members, [&](const std::string& name, const Callable&) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  });
  return names;
}

std::vector<const Callable*> HandleType::own_members(Members HandleType::*members) const {
  std::vector<const Callable*> result;
  for (const auto& [name, callable] : this->*members) result.push_back(callable.get());
  return result;
}

const Callable* HandleType::find(Members HandleType::*members, const std::string& name) const {
  const Callable* match = nullptr;
  for_each_member(members, [&](const std::string& member_name, const Callable& callable) {
    if (member_name == name) match = &callable;
  });
  return match;
}

const Callable* HandleType::find_missing_key_handler() const {
  if (missing_key_handler_) return missing_key_handler_.get();
  return parent_ ? parent_->find_missing_key_handler() : &default_missing_key_handler();
}

const Callable* HandleType::find_lazy_method(const std::string& name) const {
  const Callable* method = lazy_parent_->find(name);
  return method ? method : parent()->find_method(name);
}

HandleType::UnsettableReason HandleType::find_unsettable_reason() const {
  return unsettable_reason_ || !parent_ ? unsettable_reason_ : parent_->find_unsettable_reason();
}

void HandleType::push_methods(lua_State* L) const {
  lua_newtable(L);
  for_each_member(&HandleType::methods_,
                  [&](const std::string&, const Callable& callable) { set_function(L, callable); });
}

void HandleType::create(lua_State* L, const void* key, lua_CFunction close) const {
  lua_newtable(L);
  if (lazy_parent_) {
    lua_newtable(L);
    for (const Callable* method : own_methods()) set_function(L, *method);
  } else {
    push_methods(L);
  }
  lua_newtable(L);
  for_each_member(&HandleType::getters_, [&](const std::string& name, const Callable& getter) {
    lua_pushlightuserdata(L, const_cast<Callable*>(&getter));
    lua_setfield(L, -2, name.c_str());
  });
  lua_pushlightuserdata(L, const_cast<Callable*>(find_missing_key_handler()));
  lua_pushboolean(L, lazy_parent_.has_value());
  lua_pushcclosure(L, crescent_index, 4);
  lua_setfield(L, -2, "__index");
  push_callable(L, default_assign());
  lua_setfield(L, -2, "__newindex");
  lua_pushcfunction(L, close);
  lua_setfield(L, -2, "__gc");
  // The fields "__name" and "__metatable" hold the name of the type. "__metatable" makes
  // getmetatable return the name instead of the metatable: scripts must not call the metamethods,
  // which do not check the type of their first argument.
  for (const char* field : {"__name", "__metatable"}) {
    lua_pushstring(L, name_.c_str());
    lua_setfield(L, -2, field);
  }
  for (const Operator& operation : operators()) {
    push_callable(L, operation.callable);
    lua_setfield(L, -2, operation.key);
  }
  for_each_member(&HandleType::metamethods_,
                  [&](const std::string& name, const Callable& callable) {
                    push_callable(L, callable);
                    lua_setfield(L, -2, name.c_str());
                  });
  lua_pushlightuserdata(L, const_cast<HandleType*>(this));
  lua_rawsetp(L, -2, &type_key);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

const HandleType* type_of(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return nullptr;
  lua_rawgetp(L, -1, &type_key);
  auto* type = static_cast<const HandleType*>(lua_touserdata(L, -1));
  lua_pop(L, 2);
  return type;
}

}  // namespace crescent::lua
