// Between Lua and C++: who calls whom, and what happens when one of them fails.
//
// Lua's C build raises errors by longjmp, which skips destructors; a stock interpreter is such a
// build. So everything C++ runs inside guarded(), which turns exceptions into an error message, and
// only the outermost shim, where no C++ object is left, calls lua_error. The other way round, C++
// calls Lua functions through protected_call(), which turns Lua's error into a LuaError exception
// that carries the original error value.
#pragma once
#include <lua.hpp>
#include <memory>

#include "crescent/base/error.h"
#include "lua/stack.h"
#include "lua/text.h"

namespace crescent::lua {

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

using Body = int (*)(lua_State* L, const void* object);
/// Calls the body; on an exception pushes the error and returns -1.
int guarded(lua_State* L, Body body, const void* object);
/// lua_pcall that throws LuaError.
void protected_call(lua_State* L, int arguments, int results);
}  // namespace crescent::lua
