#include "session.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "assistance.h"
#include "crescent/base/error.h"
#include "crescent/program/program.h"
#include "crescent/tensor/tensor.h"
#include "editor/screen/terminal.h"
#include "module/values/interruption.h"
#include "pager.h"
#include "program/lua/lua_state.h"
#include "program/lua/lua_tokens.h"
#include "program/lua/sources.h"

namespace crescent::program {
namespace {

/// Whether the text ends by reading an element, as f(x)[1] does.
bool ends_in_element(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  return text.ends_with(']') && !text.ends_with("]]") && text.find("--") == text.npos;
}

/// Whether the text reads a name, a field or an element, whose value is shown even if it is nil.
bool is_path(std::string_view text) {
  if (ends_in_element(text)) return true;
  constexpr std::string_view kSymbols = "_. =[]-";
  if (text.find("[[") != text.npos) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool follows_bracket = i > 0 && text[i - 1] == '[',
               precedes_bracket = text.substr(i + 1).starts_with(']');
    const bool is_quote =
        (text[i] == '"' || text[i] == '\'') && (follows_bracket || precedes_bracket);
    if (!std::isalnum(static_cast<unsigned char>(text[i])) &&
        kSymbols.find(text[i]) == kSymbols.npos && !is_quote)
      return false;
  }
  return true;
}

std::string text_at(lua_State* L, int index) {
  size_t length = 0;
  const char* text = lua_tolstring(L, index, &length);
  return text ? std::string(text, length) : "";
}

/// Implements the Lua function (text, may_use_pager), which prints the text; a pager may show it if
/// `may_use_pager` is true.
int print_text(lua_State* L) {
  print_paged(printable(text_at(L, 1)), lua_toboolean(L, 2));
  return 0;
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) result += c;
  return result;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string bytes_text(int64_t bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%+.3f MB", static_cast<double>(bytes) * 1e-6);
  return text;
}

// the symbols that may follow `exit`, and the symbols that may end its argument
constexpr const char *kOpening = "({[\"';", *kClosing = ")}]\"'";

}  // namespace

struct Session::Command {
  const char *name, *doc;
  void (*run)(Session& session, const std::string& arguments);
};

const Session::Command Session::kCommands[] = {
    {":help", "this list; with a name, what is known of it, as ?name says",
     [](Session& s, const std::string& arguments) {
       without_blanks(arguments).empty() ? s.show_commands() : s.show_help("?" + arguments);
     }},
    {":time", "runs the entry behind it and says what time and memory it took",
     [](Session& s, const std::string& arguments) { s.time(arguments); }},
    {":locals", "the local variables of the session",
     [](Session& s, const std::string&) {
       s.push_prompt_function("show_locals");
       if (call(s.L_, 0, 0) != LUA_OK) report(s.L_);
     }},
    {":quit", "ends the session, as exit, quit and Ctrl-D do",
     [](Session& s, const std::string&) { s.has_ended_ = true; }},
};

Session::Session(lua_State* L, Variables& variables) : L_(L), variables_(variables) {
  push_module_function(L, "begin_prompt");
  variables.push_table();
  lua_pushcfunction(L, print_text);
  lua_call(L, 2, 1);
  functions_reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
}

/// Pushes a function of shell/lua/prompt.lua.
void Session::push_prompt_function(const char* function) const {
  lua_rawgeti(L_, LUA_REGISTRYINDEX, functions_reference_);
  lua_getfield(L_, -1, function);
  lua_remove(L_, -2);
}

void Session::evaluate(const std::string& text) {
  const std::string trimmed_text = without_blanks(text);
  if (trimmed_text.empty()) return;
  remember_source(concat("[", entry_number_, "]"), text);
  if (is_exit(trimmed_text))
    exit_with(text.substr(std::min(text.find_first_of(kOpening), text.size())));
  else if (command_end(text) > 0)
    run_command(text);
  else if (!answer(text))
    run(text);
  lua_settop(L_, 0);
  ++entry_number_;
}

bool Session::is_defined(const std::string& name) const {
  variables_.push_table();
  const bool is_local = lua_getfield(L_, -1, name.c_str()) != LUA_TNIL;
  const bool is_global = lua_getglobal(L_, name.c_str()) != LUA_TNIL;
  lua_pop(L_, 3);
  return is_local || is_global;
}

/// Whether the entry is `exit` or `quit`, with or without an argument, and the user has not
/// redefined this name.
bool Session::is_exit(std::string_view trimmed_text) const {
  const std::string name(trimmed_text.substr(0, trimmed_text.find_first_of(kOpening)));
  const std::string_view arguments = trimmed_text.substr(name.size());
  const bool is_call = arguments.empty() || arguments.starts_with(';') ||
                       arguments.find_first_of(kClosing) != arguments.npos;
  return (name == "exit" || name == "quit") && is_call && !is_defined(name);
}

/// Ends the session. The arguments contain the exit status, which has the same meaning as for
/// os.exit.
void Session::exit_with(const std::string& arguments) {
  const bool has_no_argument = arguments.empty() || arguments.front() == ';';
  const std::string code =
      "return (function(...) return ... end)" + (has_no_argument ? "()" : arguments);
  if (variables_.load(code, concat("=[", entry_number_, "]")) != LUA_OK || call(L_, 0, 1) != LUA_OK)
    return report(L_);
  const bool is_number = lua_isinteger(L_, -1);
  if (!is_number && !lua_isnoneornil(L_, -1) && !lua_isboolean(L_, -1))
    return void(std::fprintf(stderr, "crescent: a status is an integer, true or false, not a %s\n",
                             luaL_typename(L_, -1)));
  const bool fails = lua_isboolean(L_, -1) && !lua_toboolean(L_, -1);
  status_ = is_number ? static_cast<int>(lua_tointeger(L_, -1)) & 0xff : fails;
  has_ended_ = true;
}

/// Answers `?name`, `name?` and `??word`; returns false for an entry that is no question.
bool Session::answer(const std::string& text) const {
  if (text.find('?') == text.npos) return false;
  push_prompt_function("answer");
  lua_pushlstring(L_, text.data(), text.size());
  if (call(L_, 1, 1) != LUA_OK) return report(L_), true;
  return lua_toboolean(L_, -1);
}

void Session::show_help(const std::string& question) const { answer(question); }

void Session::show_commands() const {
  std::string text;
  for (const Command& command : kCommands) {
    const std::string name = command.name;
    text += "  " + name + std::string(10 - name.size(), ' ') + command.doc + "\n";
  }
  print_paged(text + "help() tells of the rest.", false);
}

void Session::run_command(const std::string& text) {
  const size_t argument_begin = command_end(text);
  const std::string name = without_blanks(text.substr(0, argument_begin));
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (command.name == name)
      return command.run(*this, std::string(argument_begin, ' ') + text.substr(argument_begin));
    names.emplace_back(command.name);
  }
  std::fprintf(stderr, "crescent: there is no command '%s'%s; :help lists them\n",
               printable(name).c_str(), did_you_mean(name, names).c_str());
}

/// Pushes the entry as a function and the argument of this function, or an error message; returns
/// whether the entry compiles.
bool Session::load(const std::string& text, Entry& entry) const {
  const std::string chunk_name = concat("=[", entry_number_, "]");
  if (!read_entry(L_, text, chunk_name.c_str(), true, entry)) return false;
  const WatchedCode watched_code = with_watched_comparisons(entry.code);
  if (variables_.load(watched_code.code, chunk_name) != LUA_OK) return false;
  push_watcher(watched_code.comparisons);
  return true;
}

void Session::run(const std::string& text) {
  Entry entry;
  push_prompt_function("begin");
  lua_pushinteger(L_, entry_number_);
  lua_call(L_, 1, 0);
  if (!load(text, entry)) return report(L_);
  const bool names_function = lua_names_function(text);
  if (names_function) remember_functions(text);
  const int first_index = lua_gettop(L_) - 1;
  const auto begin = std::chrono::steady_clock::now();
  lua::begin_command();
  const bool has_succeeded = call(L_, 1, LUA_MULTRET) == LUA_OK;
  const double seconds = seconds_since(begin);
  if (has_succeeded) {
    show(first_index, entry);
    warn_of_list(text);
  } else {
    report(L_);
  }
  if (names_function && have_functions_changed()) retrace_functions();
  print_time(seconds);
}

void Session::remember_functions(const std::string& text) const {
  push_prompt_function("remember_functions");
  lua_pushlstring(L_, text.data(), text.size());
  if (call(L_, 1, 0) != LUA_OK) report(L_);
}

/// Whether the entry gave a new function to a name. Compiled programs may then still contain the
/// computations of the old function.
bool Session::have_functions_changed() const {
  push_prompt_function("have_functions_changed");
  if (call(L_, 0, 1) != LUA_OK) return report(L_), true;
  const bool have_changed = lua_toboolean(L_, -1);
  return lua_pop(L_, 1), have_changed;
}

/// Warns about an entry such as `a, b = f()` if f returned a single list. Python would unpack the
/// list; Lua assigns the whole list to a, and nil to b.
void Session::warn_of_list(const std::string& text) const {
  if (text.find(',') > text.find('=')) return;
  push_prompt_function("warn_of_list");
  lua_pushlstring(L_, text.data(), text.size());
  if (call(L_, 1, 0) != LUA_OK) report(L_);
}

/// Pushes the function that warns if one of `comparisons` compares a tensor with a number; pushes
/// nil if `comparisons` is empty.
void Session::push_watcher(const std::vector<WatchedCode::Operands>& comparisons) const {
  if (comparisons.empty()) return lua_pushnil(L_);
  push_prompt_function("watcher");
  lua_newtable(L_);
  for (const auto& [watched_operand, compared_operand] : comparisons)
    for (const std::string& operand : {watched_operand, compared_operand}) {
      lua_pushlstring(L_, operand.data(), operand.size());
      lua_rawseti(L_, -2, static_cast<lua_Integer>(lua_rawlen(L_, -2)) + 1);
    }
  lua_call(L_, 1, 1);
}

/// Passes the results to the Lua function of the prompt that prints them, together with two facts:
/// whether the entry is silent (ends in a semicolon), and whether it only reads a name, a field or
/// an element (is_path).
void Session::show(int first_index, const Entry& entry) const {
  const int count = lua_gettop(L_) - first_index + 1;
  if (count == 0) return;
  push_prompt_function("show");
  lua_pushboolean(L_, entry.is_silent);
  lua_pushboolean(L_, is_path(entry.shown_expression));
  lua_rotate(L_, first_index, 3);
  if (call(L_, count + 2, 0) != LUA_OK) report(L_);
}

void Session::time(const std::string& text) {
  const char* problem = without_blanks(text).empty() ? "needs an entry behind it, as in :time f(x)"
                        : command_end(text) > 0      ? "takes no commands: what it times is Lua"
                                                     : nullptr;
  if (problem) return void(std::fprintf(stderr, "crescent: :time %s\n", problem));
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor_before = std::clock();
  const int64_t bytes_before = allocated_bytes();
  run(text);
  const double processor_seconds =
      static_cast<double>(std::clock() - processor_before) / CLOCKS_PER_SEC;
  std::printf("wall %.6g s, processor %.6g s, tensors %s\n", seconds_since(begin),
              processor_seconds, bytes_text(allocated_bytes() - bytes_before).c_str());
}

/// At a terminal, prints how long a command took, if the time was long.
void Session::print_time(double seconds) const {
  push_prompt_function("is_long");
  lua_pushnumber(L_, seconds);
  lua_call(L_, 1, 1);
  if (!lua_toboolean(L_, -1) || !isatty(STDERR_FILENO)) return;
  const bool is_modern = editor::Terminal(STDIN_FILENO, STDOUT_FILENO).is_modern();
  std::fflush(stdout);
  std::fprintf(stderr, is_modern ? "\x1b[2m%.1f s\x1b[m\n" : "%.1f s\n", seconds);
}

}  // namespace crescent::program
