// HandleType describes a kind of handle (a C++ value in a Lua userdata): its methods, its
// properties and the lookup of other keys. Types of objects form a chain like the C++ classes; the
// type of an object is the most derived one that matches.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/callable.h"

namespace crescent::lua {

class HandleType {
 public:
  explicit HandleType(std::string name, const HandleType* parent = nullptr);
  /// A parent type that has many methods and no other members, and makes them when they are first
  /// used. `all` makes all methods, for listing their names. `find` makes the method with the given
  /// name; it returns null if there is none.
  struct LazyParent {
    const HandleType& (*all)();
    const Callable* (*find)(const std::string& name);
  };
  HandleType(std::string name, LazyParent parent);
  HandleType(HandleType&&);
  ~HandleType();

  template <class F>
  HandleType& method(std::string_view name, F f, const Parameters& parameters = {},
                     std::string_view doc = "") {
    return method(bound(name, f, parameters.of_method("the " + name_), doc));
  }
  HandleType& method(CallablePtr callable);
  HandleType& raw_method(std::string_view name, RawFunction::Body body,
                         const Parameters& parameters = {}, std::string_view doc = "",
                         const SchemaData* options = nullptr);
  HandleType& getter(CallablePtr callable);
  HandleType& setter(CallablePtr callable);
  template <class F>
  HandleType& property(std::string_view name, F get, std::string_view doc) {
    return getter(bound(name, get, {"self"}, doc));
  }
  template <class F, class G>
  HandleType& property(std::string_view name, F get, G set, std::string_view doc) {
    return property(name, get, doc).setter(name, set);
  }
  /// Adds a property that can be set but not read.
  template <class G>
  HandleType& setter(std::string_view name, G set) {
    return setter(bound(name, set, {"self", "value=nil"}));
  }
  /// Sets a metamethod: __add, __call, ...
  HandleType& meta(const std::string& name, CallablePtr callable);
  /// Sets the function (self, key) that is called for keys that are not members, such as positions
  /// and attributes. Without it, reading such keys is an error.
  HandleType& missing_key_handler(CallablePtr callable);
  /// Sets the function (self, key, value) for assignment to keys that are not strings. Without it,
  /// such an assignment is an error.
  HandleType& position_setter(CallablePtr callable);

  /// Returns the end of an error message: the reason why a name cannot be assigned to.
  using UnsettableReason = std::string (*)(lua_State* L, const HandleType& type,
                                           const std::string& name);
  HandleType& unsettable_reason(UnsettableReason reason) {
    return unsettable_reason_ = reason, *this;
  }

  const std::string& name() const { return name_; }
  const HandleType* parent() const { return lazy_parent_ ? &lazy_parent_->all() : parent_; }
  /// The names of methods or properties, including those of parent types, for completion and help.
  std::vector<std::string> method_names() const;
  std::vector<std::string> property_names() const;
  /// The methods, sorted by name, without those of parent types.
  std::vector<const Callable*> own_methods() const { return own_members(&HandleType::methods_); }
  std::vector<const Callable*> own_getters() const { return own_members(&HandleType::getters_); }
  const Callable* find_method(const std::string& name) const;
  const Callable* find_getter(const std::string& name) const;
  const Callable* find_setter(const std::string& name) const;
  const Callable* find_missing_key_handler() const;
  UnsettableReason find_unsettable_reason() const;
  const Callable* find_position_setter() const { return position_setter_.get(); }
  /// The method of the parent, which must be one that makes its methods when they are first used;
  /// null if it has none of this name.
  const Callable* find_lazy_method(const std::string& name) const;

  /// Makes the metatable and stores it in the Lua registry under `key`; `close` is its metamethod
  /// __gc.
  void create(lua_State* L, const void* key, lua_CFunction close) const;
  /// Pushes a table of all methods by name.
  void push_methods(lua_State* L) const;

 private:
  using Members = std::map<std::string, CallablePtr>;
  HandleType& add(Members HandleType::*members, const std::string& name, CallablePtr callable);
  std::vector<std::string> names(Members HandleType::*members) const;
  std::vector<const Callable*> own_members(Members HandleType::*members) const;
  const Callable* find(Members HandleType::*members, const std::string& name) const;
  /// Calls visit(name, callable) for all members, beginning with those of parent types.
  template <class Visit>
  void for_each_member(Members HandleType::*members, Visit visit) const;

  std::string name_;
  const HandleType* parent_ = nullptr;
  std::optional<LazyParent> lazy_parent_;
  Members methods_, getters_, setters_, metamethods_;
  CallablePtr missing_key_handler_, position_setter_;
  UnsettableReason unsettable_reason_ = nullptr;
};

/// The HandleType of the handle at `index`; null for other values.
const HandleType* type_of(lua_State* L, int index);

template <class T>
int close_handle(lua_State* L) {
  T* handle = static_cast<T*>(lua_touserdata(L, 1));
  *handle = T();  // leaves an empty handle, since later finalizers may still access it
  return 0;
}

}  // namespace crescent::lua
