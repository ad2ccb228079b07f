#include "lua_state.h"

#include <cstdio>
#include <cstring>

#include "coroutines.h"
#include "crescent/base/error.h"
#include "crescent/program/distribution.h"
#include "crescent/system/file.h"
#include "missing_globals.h"
#include "module/module.h"
#include "signals.h"
#include "sources.h"
#include "traceback.h"
#include "variables.h"

namespace crescent::program {
namespace {

const char main_key = 0;  // the key in the Lua registry of the function that call() runs

/// Pushes the function `name` of the module crescent; pushes nil if the module is not loaded yet.
void push_module_field(lua_State* L, const char* name) {
  const int base_index = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "crescent") == LUA_TTABLE) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
  }
  lua_replace(L, base_index + 1);
  lua_settop(L, base_index + 1);
}

/// Pushes a message for an error object that is not a string.
void push_object_text(lua_State* L) {
  push_module_field(L, "show");
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
  size_t length = 0;
  // The length is needed, because the message may contain zero bytes.
  const char* message = lua_tolstring(L, 1, &length);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &main_key);
  const std::string traceback_text = traceback(L, 1, -1, {message, length});
  lua_pop(L, 1);
  lua_pushlstring(L, traceback_text.data(), traceback_text.size());
  lua_concat(L, 2);
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

std::string text_at_top(lua_State* L) {
  size_t length = 0;
  const char* text = lua_tolstring(L, -1, &length);
  return text ? std::string(text, length) : "(error without a message)";
}

/// Appends the module's hint to the message on top of the stack, if there is one.
void explain(lua_State* L, const std::string& source) {
  if (!lua_isstring(L, -1)) return;
  push_module_field(L, "explained");
  lua_pushvalue(L, -2);
  source.empty() ? lua_pushnil(L) : void(lua_pushlstring(L, source.data(), source.size()));
  const bool has_hint = lua_pcall(L, 2, 1, 0) == LUA_OK && lua_isstring(L, -1);
  lua_remove(L, has_hint ? -2 : -1);
}

/// The error message on top of the stack; the source line at fault is inserted between message and
/// traceback.
std::string with_source_line(lua_State* L) {
  const std::string original_message = text_at_top(L);
  const SourceLocation location = location_of(original_message);
  explain(L, location.source);
  std::string message = text_at_top(L);
  return message.insert(std::min(message.find(kTraceback), message.size()),
                        offending_line(original_message, location));
}

/// Loads a text as a function. If `variables` is given, local variables that the text declares
/// outside of blocks are kept there.
int load(lua_State* L, const std::string& text, const std::string& chunk_name,
         Variables* variables) {
  const int status = luaL_loadbufferx(L, text.data(), text.size(), chunk_name.c_str(), "t");
  if (status != LUA_OK || !variables) return status;
  lua_pop(L, 1);
  return variables->load(text, chunk_name);
}

/// The text without what Lua skips at the start of a file: a byte order mark, and a line that
/// starts with '#'.
std::string without_first_comment(std::string text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  if (text.starts_with('#')) text.erase(0, text.find('\n'));
  return text;
}

int load_file(lua_State* L, const char* path, Variables* variables) {
  const int status = luaL_loadfilex(L, path, "t");
  if (status != LUA_OK || !variables) return status;
  const std::string text = without_first_comment(read_file(path));
  lua_pop(L, 1);
  return variables->load(text, concat("@", path));
}

int load_input(lua_State* L, Variables* variables) {
  std::string text;
  for (int c; (c = std::getc(stdin)) != EOF;) text += static_cast<char>(c);
  text = without_first_comment(std::move(text));
  remember_source("stdin", text);
  return load(L, text, "=stdin", variables);
}

/// Implements load and loadfile: calls the original function, the first upvalue, with "t" for its
/// argument `mode` unless the caller gives this argument. The second upvalue is the index of the
/// argument.
int with_text_mode(lua_State* L) {
  const auto index = static_cast<int>(lua_tointeger(L, lua_upvalueindex(2)));
  if (lua_gettop(L) < index) lua_settop(L, index);
  if (lua_isnil(L, index)) {
    lua_pushliteral(L, "t");
    lua_replace(L, index);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

int results_behind_path(lua_State* L, int, lua_KContext) { return lua_gettop(L) - 1; }

int do_text_file(lua_State* L) {
  const char* path = luaL_optstring(L, 1, nullptr);
  lua_settop(L, 1);
  if (luaL_loadfilex(L, path, "t") != LUA_OK) return lua_error(L);
  lua_callk(L, 0, LUA_MULTRET, 0, results_behind_path);
  return results_behind_path(L, LUA_OK, 0);
}

/// Makes load and loadfile accept only source text unless their argument `mode` says otherwise, and
/// dofile only source text: crafted bytecode can corrupt memory.
void refuse_compiled_chunks(lua_State* L) {
  for (const auto& [name, index] : {std::pair("load", 3), std::pair("loadfile", 2)}) {
    lua_getglobal(L, name);
    lua_pushinteger(L, index);
    lua_pushcclosure(L, with_text_mode, 2);
    lua_setglobal(L, name);
  }
  lua_pushcfunction(L, do_text_file);
  lua_setglobal(L, "dofile");
}

/// Implements print in scripts: as at the prompt, it shows the contents of tables.
int print(lua_State* L) {
  push_module_field(L, "print");
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

/// Prints the values on the stack from index `first_index` on, in the format of the prompt.
int print_values(lua_State* L, int first_index) {
  const int count = lua_gettop(L) - first_index + 1;
  if (count == 0) return LUA_OK;
  push_module_field(L, "print");
  lua_insert(L, first_index);
  return call(L, count, 0);
}

bool report_failure(lua_State* L, int status) {
  if (status == LUA_OK) return true;
  report(L);
  return false;
}

}  // namespace

void open_libraries(lua_State* L) {
  luaL_openlibs(L);
  refuse_compiled_chunks(L);
  record_coroutines(L);
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
  lua_register(L, "print", print);
  warn_of_missing_globals(L);
}

void set_arguments(lua_State* L, char** argv, int count, int script_index) {
  lua_createtable(L, count - script_index, script_index);
  for (int i = 0; i < count; ++i) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - script_index);
  }
  lua_setglobal(L, "arg");
}

int call(lua_State* L, int argument_count, int result_count) {
  const int base_index = lua_gettop(L) - argument_count;
  lua_pushvalue(L, base_index);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &main_key);
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base_index);
  const StopSignalHandling signal_handling(L);
  const int status = lua_pcall(L, argument_count, result_count, base_index);
  lua_remove(L, base_index);
  return status;
}

namespace {

/// The text that this process prints for an error. If not all processes have the error, it names
/// the ranks that have it. It is empty if a process of lower rank prints the error.
std::string text_for_this_process(const std::string& message) {
  if (processes_launched() < 2) return message;
  const auto world = communicator();
  const std::vector<int> ranks = world->ranks_with(message);
  if (ranks.front() != world->rank()) return {};
  if (static_cast<int>(ranks.size()) == world->size()) return message;
  return concat(ranks_text(ranks), ": ", message);
}

}  // namespace

/// Stops the garbage collector until the message is printed, because a finalizer may wait for
/// worker threads and delay the message.
void report(lua_State* L) {
  lua_gc(L, LUA_GCSTOP);
  const std::string message = text_for_this_process(with_source_line(L));
  std::fflush(stdout);
  if (!message.empty()) std::fprintf(stderr, "crescent: %s\n", printable(message).c_str());
  lua_pop(L, 1);
  lua_gc(L, LUA_GCRESTART);
}

bool run_text(lua_State* L, const std::string& code, const char* name, Variables* variables) {
  int status = load(L, code, concat("=", name), variables);
  const int first_index = lua_gettop(L);
  if (status == LUA_OK) status = call(L, 0, LUA_MULTRET);
  if (status == LUA_OK) status = print_values(L, first_index);
  return report_failure(L, status);
}

/// Implements the option -l name: requires a module and assigns it to the global variable of that
/// name.
bool require(lua_State* L, const std::string& name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, name.c_str());
  const int status = call(L, 1, 1);
  if (status == LUA_OK) lua_setglobal(L, name.c_str());
  return report_failure(L, status);
}

bool run_file(lua_State* L, const char* path, Variables* variables) {
  int status = path ? load_file(L, path, variables) : load_input(L, variables);
  if (status == LUA_OK) status = call(L, push_arguments(L), LUA_MULTRET);
  return report_failure(L, status);
}

}  // namespace crescent::program
