// Calls and errors between Lua and C++. A stock interpreter is built as C and raises errors by
// longjmp, which skips destructors. Therefore all C++ code runs inside guarded(), which converts
// exceptions to an error message, and only the outermost function, in which no C++ object is alive,
// calls lua_error. C++ calls Lua functions by protected_call(), which converts a Lua error to a
// LuaError exception that holds the original error value.
#pragma once
#include <lua.hpp>
#include <memory>

#include "crescent/base/error.h"
#include "lua/stack.h"
#include "lua/text.h"

namespace crescent::lua {

/// The data of the module for a Lua state. It outlives the Lua state, so that references to Lua
/// values can detect that the state was closed.
struct Host {
  lua_State* main = nullptr;  ///< null after lua_close
};

/// Makes the host of a new state; called first by the module.
void open_host(lua_State* L);
/// The Lua thread that last called C++ on this thread of the process; callbacks run in it. Fails on
/// a thread that Lua did not call.
lua_State* current();
/// The same as current(), but null on a thread that Lua did not call.
lua_State* current_or_null();
/// On a thread on which no Lua thread has called C++ code, makes current() return the given Lua
/// thread.
void set_current_thread(lua_State* L);
/// Whether C++ code that Lua called is itself calling Lua; the C++ code in between may be recording
/// a program.
bool is_in_callback();

/// A reference to a Lua value that C++ holds; it keeps the value alive.
class Ref {
 public:
  Ref() = default;
  /// Refers to the value at `index`.
  Ref(lua_State* L, int index);
  explicit operator bool() const { return slot_ != nullptr; }
  /// Pushes the value; fails if its Lua state is closed.
  void push(lua_State* L) const;

 private:
  struct Slot;
  std::shared_ptr<Slot> slot_;
};

/// An error raised by Lua code that C++ called.
class LuaError final : public Error {
 public:
  /// `value` is the error value that Lua raised; it is empty if there is only the message.
  LuaError(std::string_view message, Ref value) : Error(message), value_(std::move(value)) {}
  /// Pushes the value that Lua raised, or the message if C++ changed it.
  void push(lua_State* L) const;

 private:
  Ref value_;
  std::string raised_message_ = what();
};

using Body = int (*)(lua_State* L, const void* object);
/// Calls the body. If it throws, pushes the error and returns -1.
int guarded(lua_State* L, Body body, const void* object);
/// Calls lua_pcall and throws LuaError on failure. `handler` is the stack index of the function
/// that completes the message of an error; 0 for none.
void protected_call(lua_State* L, int argument_count, int result_count, int handler = 0);
}  // namespace crescent::lua
