// A Lua state of its own for one worker: the standard libraries, cr, and one function that was
// taken over from the script.
#pragma once
#include "crescent/data/stream.h"
#include "workers/copied.h"

namespace crescent::lua {

/// How the module is opened in a new state; set when it is opened the first time.
void set_opener(lua_CFunction opener);

/// The values on the stack from `first` on as parts of an element; trailing nils are left out.
Element element_from(lua_State* L, int first);
/// Pushes the parts; returns how many.
int push_element(lua_State* L, const Element& element);

class WorkerState {
 public:
  explicit WorkerState(std::shared_ptr<const Copied> function);
  ~WorkerState();
  WorkerState(const WorkerState&) = delete;
  /// What the function makes of an element; one thread at a time. Stops when the thread's run is
  /// interrupted.
  Element call(const Element& element);

 private:
  lua_State* L_;
  int function_ = 0;  ///< its place in the registry
};

}  // namespace crescent::lua
