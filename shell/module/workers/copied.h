// A copy of a Lua value that can be made in other Lua states: functions with the upvalues and
// global variables that they use, tables, tensors, layers, and functions of libraries. The copy
// does not refer to the original state, so any thread may make the value from it.
#pragma once
#include <map>
#include <vector>

#include "lua/handle.h"
#include "values/callable.h"

namespace crescent::lua {

/// Whether the class of an object, or of a layer inside it, is written in Lua; such an object can
/// only be used in the state that made it.
bool holds_lua_classes(Object& object);

class CopiedValue {
 public:
  /// Copies the value at `index`. Fails for a value that cannot be copied, with a message that
  /// names it; `what` is the name of the value at `index` in messages.
  CopiedValue(lua_State* L, int index, const std::string& what);
  void push(lua_State* L) const;

 private:
  struct Node {
    enum class Kind { plain, type, library, table, function, globals } kind = Kind::plain;
    Value plain_value;  ///< the value, if it is nil, a number, a string, a tensor or an object
    ClassPtr type;      ///< the value, if it is a C++ class
    /// the value, if it is a Lua function made from a Callable, which lives as long as the process
    /// and so serves all Lua states
    const Callable* callable = nullptr;
    std::string text;  ///< the path of a value of a library, or the bytecode of a function
    std::vector<std::pair<size_t, size_t>> fields;  ///< the nodes of the keys and values of a table
    std::vector<size_t> upvalues;
  };
  class Reader;
  class Maker;

  std::vector<Node> nodes_;
  size_t root_index_ = 0;
  std::string path_, cpath_;               ///< the search paths of Lua modules and of C modules
                                           ///< (package.path and package.cpath)
  std::map<std::string, size_t> globals_;  ///< the nodes of the globals that functions use
  /// the globals that cannot be copied, with reasons
  std::map<std::string, std::string> unavailable_globals_;
};

}  // namespace crescent::lua
