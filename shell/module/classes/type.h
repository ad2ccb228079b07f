// Type: what Lua sees of one kind of handle: methods, properties, and what happens with other keys.
// Types of objects form a chain like the C++ classes; the most derived one that matches is an
// object's.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "values/callable.h"

namespace crescent::lua {

class Type {
 public:
  explicit Type(std::string name, const Type* parent = nullptr)
      : name_(std::move(name)), parent_(parent) {}
  Type(Type&&) = default;

  template <class F>
  Type& method(const std::string& name, F f, Parameters parameters = {}, std::string doc = "") {
    parameters.insert(parameters.begin(), "self");
    return add(methods_, name, bound(name, f, std::move(parameters), std::move(doc)));
  }
  Type& method(CallablePtr callable) {
    std::string name = callable->name();
    return add(methods_, name, std::move(callable));
  }
  Type& raw_method(const std::string& name, Raw::Body body, Parameters parameters = {},
                   std::string doc = "", const SchemaData* options = nullptr) {
    parameters.insert(parameters.begin(), "self");
    return add(methods_, name, raw(name, body, std::move(parameters), std::move(doc), options));
  }
  Type& getter(CallablePtr callable) {
    std::string name = callable->name();
    return add(getters_, name, std::move(callable));
  }
  Type& setter(CallablePtr callable) {
    std::string name = callable->name();
    return add(setters_, name, std::move(callable));
  }
  template <class F>
  Type& property(const std::string& name, F get) {
    return add(getters_, name, bound(name, get, {"self"}));
  }
  template <class F, class G>
  Type& property(const std::string& name, F get, G set) {
    add(getters_, name, bound(name, get, {"self"}));
    return add(setters_, name, bound(name, set, {"self", "value=nil"}));
  }
  /// Something that can be set, not read.
  template <class G>
  Type& setter(const std::string& name, G set) {
    return add(setters_, name, bound(name, set, {"self", "value=nil"}));
  }
  /// __add, __call, ...
  Type& meta(const std::string& name, CallablePtr callable) {
    return add(metamethods_, name, std::move(callable));
  }
  /// self, key -> value for keys that are neither: positions, attributes. Without: an error.
  Type& missing(CallablePtr callable) { return missing_ = std::move(callable), *this; }

  const std::string& name() const { return name_; }
  const Type* parent() const { return parent_; }
  /// Names of methods and properties, those of parents too; for completion and help.
  std::vector<std::string> method_names() const { return names(&Type::methods_); }
  std::vector<std::string> property_names() const { return names(&Type::getters_); }
  const Callable* find_method(const std::string& name) const { return find(&Type::methods_, name); }
  const Callable* find_getter(const std::string& name) const { return find(&Type::getters_, name); }
  const Callable* find_setter(const std::string& name) const { return find(&Type::setters_, name); }
  const Callable* find_missing() const;

  /// Makes the metatable and leaves it in the registry under `key`; `close` is __gc.
  void create(lua_State* L, const void* key, lua_CFunction close) const;
  /// Pushes the table name -> function of all methods.
  void push_methods(lua_State* L) const;

 private:
  using Members = std::map<std::string, CallablePtr>;
  Type& add(Members& members, const std::string& name, CallablePtr callable) {
    members[name] = std::move(callable);
    return *this;
  }
  std::vector<std::string> names(Members Type::*members) const;
  const Callable* find(Members Type::*members, const std::string& name) const;
  /// Calls visit(name, callable) for all members, parents' first.
  template <class Visit>
  void each(Members Type::*members, Visit visit) const {
    if (parent_) parent_->each(members, visit);
    for (const auto& [name, callable] : this->*members) visit(name, *callable);
  }

  std::string name_;
  const Type* parent_;
  Members methods_, getters_, setters_, metamethods_;
  CallablePtr missing_;
};

/// The Type of the handle at `index`; null for other values.
const Type* type_of(lua_State* L, int index);

template <class T>
int close_handle(lua_State* L) {
  T* handle = static_cast<T*>(lua_touserdata(L, 1));
  *handle = T();  // finalizers may still see it: an empty handle is safe
  return 0;
}

}  // namespace crescent::lua
