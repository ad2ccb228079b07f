#include "lua_state.h"

#include <cstdio>
#include <cstring>

#include "crescent/base/error.h"
#include "module/module.h"
#include "signals.h"

namespace crescent::program {
namespace {

/// Pushes a function of the module, nil before there is one.
void push_of_module(lua_State* L, const char* name) {
  const int base = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "crescent") == LUA_TTABLE) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
  }
  lua_replace(L, base + 1);
  lua_settop(L, base + 1);
}

/// The error object, which is no text, as a message.
void push_object_text(lua_State* L) {
  push_of_module(L, "show");
  lua_pushvalue(L, 1);
  lua_pcall(L, 1, 1, 0);
  lua_pushfstring(L, "(error object is a %s value) %s", luaL_typename(L, 1),
                  luaL_tolstring(L, -1, nullptr));
}

int add_traceback(lua_State* L) {
  if (!lua_tostring(L, 1)) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
    push_object_text(L);
    lua_replace(L, 1);
    lua_settop(L, 1);
  }
  lua_pushvalue(L, 1);
  lua_pushliteral(L, "\n");
  luaL_traceback(L, L, nullptr, 1);
  lua_concat(L, 3);  // whole, whatever bytes the message has
  return 1;
}

int push_arguments(lua_State* L) {
  if (lua_getglobal(L, "arg") != LUA_TTABLE) return lua_pop(L, 1), 0;
  const int count = static_cast<int>(luaL_len(L, -1));
  luaL_checkstack(L, count + 3, "too many arguments");
  for (int i = 1; i <= count; ++i) lua_rawgeti(L, -i, i);
  lua_remove(L, -(count + 1));
  return count;
}

/// The message on top with the hint that the module has for it.
void explain(lua_State* L, const std::string& source) {
  if (!lua_isstring(L, -1)) return;
  push_of_module(L, "explained");
  lua_pushvalue(L, -2);
  source.empty() ? lua_pushnil(L) : void(lua_pushlstring(L, source.data(), source.size()));
  const bool explained = lua_pcall(L, 2, 1, 0) == LUA_OK && lua_isstring(L, -1);
  lua_remove(L, explained ? -2 : -1);
}

bool finish(lua_State* L, int status, const std::string& source = "") {
  if (status == LUA_OK) return true;
  report(L, source);
  return false;
}

}  // namespace

void open_libraries(lua_State* L) {
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_crescent);
  lua_setfield(L, -2, "crescent");
  lua_pop(L, 1);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "crescent");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "help");
  lua_setglobal(L, "help");
  lua_setglobal(L, "cr");
}

void set_arguments(lua_State* L, char** argv, int count, int script) {
  lua_createtable(L, count - script, script);
  for (int i = 0; i < count; ++i) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}

int call(lua_State* L, int arguments, int results) {
  const int base = lua_gettop(L) - arguments;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  const StopSignals signals(L);
  const int status = lua_pcall(L, arguments, results, base);
  lua_remove(L, base);
  return status;
}

void report(lua_State* L, const std::string& source) {
  explain(L, source);
  size_t length = 0;
  const char* message = lua_tolstring(L, -1, &length);
  std::fflush(stdout);
  std::fprintf(stderr, "crescent: %s\n",
               message ? printable({message, length}).c_str() : "(error without a message)");
  lua_pop(L, 1);
}

void show_tables(lua_State* L) {
  push_of_module(L, "print");
  lua_setglobal(L, "print");
}

bool run_text(lua_State* L, const std::string& text, const char* name) {
  int status = luaL_loadbufferx(L, text.data(), text.size(), name, "t");
  if (status == LUA_OK) status = call(L, 0, 0);
  return finish(L, status, text);
}

/// -l name: require it into a global of that name.
bool require(lua_State* L, const std::string& name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, name.c_str());
  const int status = call(L, 1, 1);
  if (status == LUA_OK) lua_setglobal(L, name.c_str());
  return finish(L, status);
}

bool run_file(lua_State* L, const char* path) {
  int status = luaL_loadfile(L, path);
  if (status == LUA_OK) status = call(L, push_arguments(L), LUA_MULTRET);
  return finish(L, status);
}

}  // namespace crescent::program
