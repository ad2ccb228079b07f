// Instance is the Lua part of a C++ object whose class is written in Lua. It has the class, the
// attributes (the fields of `self`) and the options. These are user values of the object's handle,
// so that the garbage collector can follow them; roots.h keeps the handle alive while C++ owns the
// object.
#pragma once
#include <lua.hpp>

#include "crescent/layer/optimizer.h"
#include "lua/class_table.h"
#include "lua/handle.h"
#include "values/convert.h"
#include "values/push.h"

namespace crescent::lua {

/// The key, in a configuration, of the data from which build_from_config builds the layer again.
inline constexpr const char* kBuildConfig = "build_config";

class Instance {
 public:
  virtual ~Instance() = default;
  /// Initializes an instance of the Lua class at class_index with the table of options at
  /// options_index, which must be the top of the stack.
  void adopt(lua_State* L, int class_index, int options_index);
  /// Makes the instance call a Lua function instead of a method `call`; messages use this name.
  void set_function(Ref function, std::string name);
  bool is_function() const { return static_cast<bool>(function_); }
  const Ref& function() const { return function_; }
  const std::string& function_name() const { return name_; }

  /// Whether an attribute or the object's class or a parent class, except the base, defines the
  /// method.
  bool has(const char* method) const;
  /// Calls self:method(arguments...) or, if set_function() was called, its function without self;
  /// leaves the results on the stack.
  template <class... A>
  void invoke(lua_State* L, const char* method, int result_count, const A&... arguments) const {
    reserve(L, 8 + static_cast<int>(sizeof...(A)));
    const int self_count = push_method(L, method);
    (push(L, arguments), ...);
    protected_call(L, self_count + static_cast<int>(sizeof...(A)), result_count);
  }
  /// Pushes the function of the method and self; the caller then pushes the arguments.
  void push_self_method(lua_State* L, const char* method) const { push_method(L, method); }
  /// Makes the layers, variables and metrics in attributes of an instance that is a layer parts of
  /// it, so that it lists their weights; for a metric, the variables and metrics.
  void track_attributes();
  /// The layers; the keys are the names of the attributes that hold them. For an attribute that is
  /// a table, the value is a list of layers. Layers in a table with names are in the order of their
  /// creation, as in a Python dictionary.
  Dict layers_by_attribute() const;
  /// The optimizers in attributes and in tables in them, ordered by name.
  std::vector<std::shared_ptr<Optimizer>> held_optimizers() const;
  /// Sets the options as attributes and runs the init of the class.
  void start();
  /// Makes the next call of configured() skip start().
  void skip_next_start() { skips_start_ = true; }
  /// Sets the argument with which configured() calls build_from_config.
  void set_build_config(Value config) { build_config_ = std::move(config); }
  /// The configuration: `base` extended by options and attributes or, if the class has a
  /// get_config, its result.
  Dict configuration(Dict base) const;

  Value option(const std::string& name) const;  ///< the current attribute of a declared option
  /// The attribute of the object, or the value that its class defines; null if there is none.
  Value attribute(const char* name) const;
  void set_option(const std::string& name, const Value& value) {
    declared_options_.set(name, value);
  }
  void push_class(lua_State* L) const { class_.push(L); }
  /// Whether the build of the class is running. Meanwhile a call of the base's build, which the
  /// class may make, does nothing.
  bool is_building() const { return is_building_; }

 protected:
  bool is_building_ = false;
  Value build_config_;

 private:
  /// Pushes the user value of the handle with this number.
  void push_user_value(lua_State* L, int number) const;
  /// Pushes the method and self or, if set_function() was called, its function alone; returns the
  /// number of pushed arguments.
  int push_method(lua_State* L, const char* method) const;
  bool find_method(lua_State* L, const char* method) const;
  [[noreturn]] void fail_undefined(lua_State* L, const char* method) const;
  ObjectPtr self() const;

  bool skips_start_ = false;
  Ref class_, function_;
  std::string name_;
  Dict declared_options_;
};

/// Gives the object of the new handle on top of the stack its creation number, by which layers in
/// tables are ordered.
void assign_creation_number(lua_State* L);

/// Assigns an attribute of an instance: self, name and value are at stack indices 1 to 3. Registers
/// layers and variables in the value. Programs whose trace read a different value of the attribute
/// are traced again.
void set_attribute(lua_State* L);
/// Records that the program that is being traced reads an attribute: self and name are at stack
/// indices 1 and 2.
void note_traced_attribute(lua_State* L);

}  // namespace crescent::lua
