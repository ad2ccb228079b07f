// Instance: what a C++ object made from a Lua class has on the Lua side: its class, the attributes
// that methods keep in `self`, and the options it was made with. They are user values of the
// object's handle, where the collector sees them; roots.h keeps the handle as long as C++ owns the
// object.
#pragma once
#include <lua.hpp>

#include "lua/class_table.h"
#include "lua/handle.h"
#include "values/convert.h"
#include "values/push.h"

namespace crescent::lua {

/// In the configuration of a layer: what its class builds it again from.
inline constexpr const char* kBuildConfig = "build_config";

class Instance {
 public:
  virtual ~Instance() = default;
  /// Made from a Lua class; the options are the table on top of the stack.
  void adopt(lua_State* L, int class_index, int options_index);
  /// Made from a function, which is its `call`.
  void adopt_function(Ref function, std::string name);
  bool is_function() const { return static_cast<bool>(function_); }
  const Ref& function() const { return function_; }
  const std::string& function_name() const { return name_; }

  /// True when a class of it (not the base) or an attribute defines the method.
  bool has(const char* method) const;
  /// self:method(arguments...), or the function without self; results are left on the stack.
  template <class... A>
  void invoke(lua_State* L, const char* method, int results, const A&... arguments) const {
    reserve(L, 8 + static_cast<int>(sizeof...(A)));
    const int extra = push_method(L, method);
    (push(L, arguments), ...);
    protected_call(L, extra + static_cast<int>(sizeof...(A)), results);
  }
  /// Function and self, ready for arguments and a call.
  void push_self_method(lua_State* L, const char* method) const { push_method(L, method); }
  /// Layers, variables and metrics in attributes become part of the layer.
  void track_attributes();
  /// Of a layer: those that attributes hold, in lists where an attribute is a table. Names in a
  /// table go in the order in which their layers were made, as in a dictionary of Python that is
  /// written down.
  Dict layers_by_attribute() const;
  /// Options become attributes, init runs.
  void start();
  /// All of that was done already when configured() is called next.
  void set_complete() { complete_ = true; }
  /// For build_from_config of the class, when it is configured.
  void set_build_config(Value config) { build_config_ = std::move(config); }
  /// Attributes and options as a configuration on top of `base`: the class' own get_config when it
  /// has one.
  Dict configuration(Dict base) const;

  Value option(const std::string& name) const;  ///< a declared option: the attribute now
  /// Of the object or of its classes; null where neither has it.
  Value attribute(const char* name) const;
  void set_option(const std::string& name, const Value& value) { declared_.set(name, value); }
  void push_class(lua_State* L) const { class_.push(L); }
  /// While the class' own build runs; the base's, which that may call, has nothing to do then.
  bool is_building() const { return building_; }

 protected:
  bool building_ = false;
  Value build_config_;

 private:
  /// Pushes a user value of the object's handle.
  void push_user_value(lua_State* L, int which) const;
  /// Pushes function and self (or the function alone); returns how many arguments self is.
  int push_method(lua_State* L, const char* method) const;
  bool find_method(lua_State* L, const char* method) const;
  [[noreturn]] void fail_undefined(lua_State* L, const char* method) const;
  ObjectPtr self() const;

  bool complete_ = false;
  Ref class_, function_;
  std::string name_;
  Dict declared_;
};

/// Numbers the object whose new handle is on top of the stack: layers in tables go by that.
void count_object(lua_State* L);

/// Attribute assignment on an instance: self, name, value from 1 on the stack. Layers and variables
/// are tracked. What was traced with another value of the attribute is traced anew.
void set_attribute(lua_State* L);
/// Remembers that a trace reads the attribute: self and name from 1 on the stack.
void note_traced_attribute(lua_State* L);

}  // namespace crescent::lua
