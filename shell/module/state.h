// Between Lua and C++: who calls whom, and what happens when one of them fails.
//
// Lua's C build raises errors by longjmp, which skips destructors; a stock interpreter is such a
// build. So everything C++ runs inside run(), which turns exceptions into an error message, and
// only the outermost shim, where no C++ object is left, calls lua_error. The other way round, C++
// calls Lua functions through protected_call(), which turns Lua's error into a LuaError exception
// that carries the original error value.
#pragma once
#include <lua.hpp>
#include <memory>

#include "crescent/error.h"

namespace crescent::lua {

class Callable;

/// What C++ knows of one Lua state; it outlives the state, so that values held from C++ know when
/// it is gone.
struct Host {
  lua_State* main = nullptr;  ///< null after lua_close
};

/// Makes the host of a new state; called first by the module.
void open_host(lua_State* L);
/// The Lua thread that called C++ last: callbacks run on it. Fails on threads that Lua did not
/// call.
lua_State* current();
/// True while C++ that Lua called is calling Lua again: someone in between may be recording what
/// happens.
bool in_callback();

/// A Lua value kept alive from C++.
class Ref {
 public:
  Ref() = default;
  /// Takes the value at `index`.
  Ref(lua_State* L, int index);
  explicit operator bool() const { return slot_ != nullptr; }
  /// Pushes the value; fails when its Lua state is closed.
  void push(lua_State* L) const;

 private:
  struct Slot;
  std::shared_ptr<Slot> slot_;
};

/// An error raised by Lua code that C++ called.
class LuaError final : public Error {
 public:
  /// No value: the message is all there is to it.
  LuaError(std::string_view message, Ref value) : Error(message), value_(std::move(value)) {}
  /// What Lua raised; a message to which C++ added something, as it is now.
  void push(lua_State* L) const;

 private:
  Ref value_;
  std::string raised_ = what();
};

/// lua_pcall that throws LuaError.
void protected_call(lua_State* L, int arguments, int results);
/// Calls the body; on an exception pushes the error and returns -1.
int run(lua_State* L, const Callable& callable);
/// The shim behind every function that Lua sees; its first upvalue is the Callable.
extern "C" int crescent_invoke(lua_State* L);
/// What a shim does last: raises the error of a failed run, and lets the collector work off the
/// memory of tensors.
int finish(lua_State* L, int count);

/// "a string", "a tensor (2, 3)", "nil": what an argument is, for messages.
std::string describe(lua_State* L, int index);
/// tostring() without metamethods.
std::string text_of(lua_State* L, int index);
/// Room for n more values, or an error.
void reserve(lua_State* L, int n);

/// table[name] and a global variable, without metamethods (which might raise errors).
void push_field(lua_State* L, int table, const char* name);
void push_global(lua_State* L, const char* name);

/// Restores the height of the stack.
class Height {
 public:
  explicit Height(lua_State* L) : L_(L), height_(lua_gettop(L)) {}
  ~Height() { lua_settop(L_, height_); }
  Height(const Height&) = delete;

 private:
  lua_State* L_;
  int height_;
};

}  // namespace crescent::lua
