// A value of one Lua state, to be made again in others: functions with what they use (upvalues and
// global variables), tables, tensors, layers, functions of libraries. It holds nothing of the state
// that it comes from, so that any thread may make it.
#pragma once
#include <map>
#include <vector>

#include "lua/handle.h"
#include "values/callable.h"

namespace crescent::lua {

/// Whether an object, or a layer below it, is of a class written in Lua: it belongs to one state.
bool holds_lua_classes(Object& object);

class Copied {
 public:
  /// Fails naming what cannot be taken over; `what` is the value in messages.
  Copied(lua_State* L, int index, const std::string& what);
  void push(lua_State* L) const;

 private:
  struct Node {
    enum class Kind { plain, type, library, table, function, globals } kind = Kind::plain;
    Value plain;                         ///< nil, a number, a text, a tensor, an object
    ClassPtr type;                       ///< a class of C++
    const Callable* callable = nullptr;  ///< a function of this module: the same in every state
    std::string text;                    ///< the path of what a library has; the code of a function
    std::vector<std::pair<size_t, size_t>> fields;  ///< key and value, of a table
    std::vector<size_t> upvalues;
  };
  class Reader;
  class Maker;

  std::vector<Node> nodes_;
  size_t root_ = 0;
  std::string path_, cpath_;                        ///< where modules are looked for
  std::map<std::string, size_t> globals_;           ///< those that functions use
  std::map<std::string, std::string> unavailable_;  ///< those that cannot be taken over, and why
};

}  // namespace crescent::lua
