// The Lua state of a worker thread: it has the standard libraries, cr, and a function that was
// copied from the script.
#pragma once
#include "crescent/data/stream.h"
#include "workers/copied.h"

namespace crescent::lua {

/// Sets the function that opens the module in a new state.
void set_opener(lua_CFunction opener);

/// Makes an element of the values on the stack from `first_index` on; trailing nils are left out.
Element element_from(lua_State* L, int first_index);
/// Pushes the parts of an element; returns their number.
int push_element(lua_State* L, const Element& element);

class WorkerState {
 public:
  explicit WorkerState(std::shared_ptr<const CopiedValue> function);
  ~WorkerState();
  WorkerState(const WorkerState&) = delete;
  /// Calls the function with an element and returns its result. Only one thread at a time may call
  /// it; it stops if the thread is interrupted.
  Element call(const Element& element);

 private:
  lua_State* L_;
  int function_reference_ = 0;  ///< the reference in the Lua registry of the function
};

}  // namespace crescent::lua
