// Instance is the part in Lua of a C++ object of a Lua class: its class, its attributes (the fields
// of `self`), and its options. They are user values of the handle of the object, so the garbage
// collector sees them; roots.h keeps the handle alive while C++ owns the object.
#pragma once
#include <lua.hpp>

#include "lua/class_table.h"
#include "lua/handle.h"
#include "values/convert.h"
#include "values/push.h"

namespace crescent::lua {

/// The key of the data from which a class builds a layer again, in the configuration.
inline constexpr const char* kBuildConfig = "build_config";

class Instance {
 public:
  virtual ~Instance() = default;
  /// Initializes an instance of a Lua class; the options are the table on top of the stack.
  void adopt(lua_State* L, int class_index, int options_index);
  /// Makes a function of Lua the `call` of the instance, under this name in messages.
  void set_function(Ref function, std::string name);
  bool is_function() const { return static_cast<bool>(function_); }
  const Ref& function() const { return function_; }
  const std::string& function_name() const { return name_; }

  /// Whether a class of the object, without the base, or an attribute defines the method.
  bool has(const char* method) const;
  /// Calls self:method(arguments...), or the function without self, and leaves the results on the
  /// stack.
  template <class... A>
  void invoke(lua_State* L, const char* method, int results, const A&... arguments) const {
    reserve(L, 8 + static_cast<int>(sizeof...(A)));
    const int extra = push_method(L, method);
    (push(L, arguments), ...);
    protected_call(L, extra + static_cast<int>(sizeof...(A)), results);
  }
  /// Pushes the function and self; arguments follow.
  void push_self_method(lua_State* L, const char* method) const { push_method(L, method); }
  /// Adds layers, variables and metrics in attributes to the layer.
  void track_attributes();
  /// The layers in attributes by name, as lists for attributes that are tables. Layers in a table
  /// with names have the order of their creation, as in a Python dictionary.
  Dict layers_by_attribute() const;
  /// Makes attributes of the options and runs init.
  void start();
  /// Makes the next configured() skip start(), which has nothing to do.
  void set_complete() { complete_ = true; }
  /// Sets the argument of build_from_config, which configured() calls.
  void set_build_config(Value config) { build_config_ = std::move(config); }
  /// The configuration: `base` with options and attributes, or the result of the get_config of the
  /// class.
  Dict configuration(Dict base) const;

  Value option(const std::string& name) const;  ///< the current attribute of a declared option
  /// The attribute of the object or its classes; null without one.
  Value attribute(const char* name) const;
  void set_option(const std::string& name, const Value& value) { declared_.set(name, value); }
  void push_class(lua_State* L) const { class_.push(L); }
  /// Whether the build of the class is running; then the build of the base, which it may call, does
  /// nothing.
  bool is_building() const { return building_; }

 protected:
  bool building_ = false;
  Value build_config_;

 private:
  /// Pushes a user value of the handle.
  void push_user_value(lua_State* L, int which) const;
  /// Pushes the function and self, or the function alone; returns the number of pushed arguments.
  int push_method(lua_State* L, const char* method) const;
  bool find_method(lua_State* L, const char* method) const;
  [[noreturn]] void fail_undefined(lua_State* L, const char* method) const;
  ObjectPtr self() const;

  bool complete_ = false;
  Ref class_, function_;
  std::string name_;
  Dict declared_;
};

/// Gives the object of the new handle on top of the stack its creation number, which orders layers
/// in tables.
void count_object(lua_State* L);

/// Assigns an attribute of an instance: self, name and value are on the stack from 1. Layers and
/// variables are tracked, and programs whose trace read another value are traced again.
void set_attribute(lua_State* L);
/// Notes that the current trace reads an attribute: self and name are on the stack from 1.
void note_traced_attribute(lua_State* L);

}  // namespace crescent::lua
