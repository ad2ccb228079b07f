// crescent: the prompt, scripts, and a few commands.
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "command_table.h"
#include "crescent/base/error.h"
#include "crescent/base/export.h"
#include "crescent/program/communicator.h"
#include "crescent/program/device.h"
#include "crescent/program/distribution.h"
#include "crescent/system/crash.h"
#include "lua/lua_state.h"
#include "lua/signals.h"
#include "lua/sources.h"
#include "lua/whole_state.h"
#include "module/library/lua_plugins.h"
#include "prompt/entry.h"
#include "prompt/prompt.h"
#include "usage.h"

namespace crescent::program {
namespace {

namespace po = boost::program_options;

constexpr const char* kPlugin = "--plugin";

/// The number of program arguments before the script's name; the arguments after it belong to the
/// script.
int count_options(int argc, char** argv) {
  int i = 1;
  while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0') {
    const std::string option = argv[i];
    if (option == "--") return i + 1;
    const bool takes_value = option == "-e" || option == "-l" || option == "--execute" ||
                             option == "--library" || option == kPlugin;
    i += takes_value ? 2 : 1;
  }
  return std::min(i, argc);
}

struct Invocation {
  int argc;
  char** argv;
  int script_index;                 ///< the index of the script's name; argc if there is no script
  std::vector<po::option> options;  ///< the options in the order in which they were given
  bool has(const char* name) const {
    for (const po::option& option : options)
      if (option.string_key == name) return true;
    return false;
  }
};

Invocation parse(int argc, char** argv) try {
  Invocation invocation{argc, argv, count_options(argc, argv), {}};
  const int end =
      invocation.script_index > 1 && std::strcmp(argv[invocation.script_index - 1], "--") == 0
          ? invocation.script_index - 1
          : invocation.script_index;
  invocation.options = po::command_line_parser(std::vector<std::string>(argv + 1, argv + end))
                           .options(description())
                           .run()
                           .options;
  return invocation;
} catch (const po::error& error) {
  throw UsageError(concat(error.what(), "; crescent --help lists the options"));
}

/// Fails for a word that is neither a command nor a file but resembles the name of a command.
void refuse_misspelt_command(const char* word) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  const std::string suggestion = did_you_mean(word, names);
  if (!suggestion.empty() && access(word, F_OK) != 0)
    throw UsageError(concat("there is no file and no command '", word, "'", suggestion));
}

/// Runs the text of the option -e; if it is an expression, prints its value.
bool execute(lua_State* L, const std::string& text, Variables* variables) {
  constexpr const char* kName = "(command line)";
  Entry entry;
  remember_source(kName, text);
  if (!read_entry(L, text, "=(command line)", false, entry)) return report(L), false;
  return run_text(L, entry.code, kName, variables);
}

/// Calls cr.plugins.load(name).
bool load_plugin_in(lua_State* L, const std::string& name) {
  lua_getglobal(L, "cr");
  lua_getfield(L, -1, "plugins");
  lua_getfield(L, -1, "load");
  lua_remove(L, -2);
  lua_remove(L, -2);
  lua_pushlstring(L, name.data(), name.size());
  if (call(L, 1, 0) != LUA_OK) return report(L), false;
  return true;
}

/// Runs the options -e, -l and --plugin in the order in which they were given.
bool run_options(lua_State* L, const Invocation& invocation, Variables* variables) {
  for (const po::option& option : invocation.options) {
    if (option.string_key == "execute" && !execute(L, option.value.at(0), variables)) return false;
    if (option.string_key == "library" && !require(L, option.value.at(0))) return false;
    if (option.string_key == "plugin" && !load_plugin_in(L, option.value.at(0))) return false;
  }
  return true;
}

bool run_script(lua_State* L, const Invocation& invocation, Variables* variables) {
  if (invocation.script_index == invocation.argc) return true;
  const char* path = invocation.argv[invocation.script_index];
  return run_file(L, std::strcmp(path, "-") == 0 ? nullptr : path, variables);
}

/// Runs the program and returns its exit status. If an option or the script fails before the
/// prompt, the prompt still starts, so that the user can examine the state.
int run_all(lua_State* L, const Invocation& invocation) {
  const bool has_no_code = invocation.script_index == invocation.argc &&
                           !invocation.has("execute") && !invocation.has("library");
  const bool has_prompt = invocation.has("interactive") || (has_no_code && isatty(STDIN_FILENO));
  Variables variables(L);
  Variables* session_variables = has_prompt ? &variables : nullptr;
  const bool succeeded =
      run_options(L, invocation, session_variables) && run_script(L, invocation, session_variables);
  if (has_prompt && !has_final_signal())
    return run_prompt(L, variables, !invocation.has("no-init"));
  return succeeded && (!has_no_code || run_file(L, nullptr)) ? 0 : 1;
}

int run_lua(const Invocation& invocation) {
  return run_in_lua([&](lua_State* L) {
    set_arguments(L, invocation.argv, invocation.argc,
                  invocation.script_index < invocation.argc ? invocation.script_index : 0);
    return run_all(L, invocation);
  });
}

/// Makes the device and the communicator that environment variables or a launcher select, and
/// checks CRESCENT_TRACEBACK, so that wrong values are reported when the program starts.
void check_environment() {
  const char* traceback = std::getenv("CRESCENT_TRACEBACK");
  if (traceback && *traceback && std::strcmp(traceback, "full") != 0)
    fail("CRESCENT_TRACEBACK can be 'full', not '", traceback, "'");
  if (std::getenv("CRESCENT_DEVICE")) device();
  if (std::getenv("CRESCENT_COMMUNICATOR") || processes_launched() > 1) communicator();
}

/// Removes --plugin NAME from the arguments of a command; returns the names of the plugins.
std::vector<std::string> remove_plugin_options(std::vector<std::string>& arguments) {
  std::vector<std::string> plugins;
  for (auto it = arguments.begin(); it != arguments.end();) {
    if (*it != kPlugin) {
      ++it;
      continue;
    }
    if (it + 1 == arguments.end()) throw UsageError("expected a name or a path after --plugin");
    plugins.push_back(it[1]);
    it = arguments.erase(it, it + 2);
  }
  return plugins;
}

int open_libraries_in(lua_State* L) {
  lua_settop(L, 0);
  open_libraries(L);
  return 0;
}

/// Makes the Lua state for a command. It exists until the program ends, because classes written in
/// Lua live in it.
lua_State* make_command_state() {
  lua_State* L = luaL_newstate();
  if (!L) fail("not enough memory for Lua");
  lua_pushcfunction(L, open_libraries_in);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) fail(lua_tostring(L, -1));
  return L;
}

/// Loads plugins for a command. If one cannot be loaded, reports the error and returns false.
bool load_command_plugins(const std::vector<std::string>& plugins) {
  lua_State* L = lua::state_for_lua_plugins();
  return std::all_of(plugins.begin(), plugins.end(),
                     [&](const std::string& name) { return load_plugin_in(L, name); });
}

/// The plugins that are named by options before the command.
std::vector<std::string> plugins_of(const Invocation& invocation) {
  std::vector<std::string> plugins;
  for (const po::option& option : invocation.options)
    if (option.string_key == "plugin") plugins.push_back(option.value.at(0));
  return plugins;
}

void print_help(const Command& command) {
  std::printf("usage: %s\n  %s\n", usage_of(command).c_str(), command.doc);
  if (command.details) std::printf("  %s\n", command.details);
}

int run_command(const Command& command, std::vector<std::string> arguments,
                std::vector<std::string> plugins) {
  for (const std::string& argument : arguments)
    if (argument == "--help" || argument == "-h") return print_help(command), 0;
  check_environment();
  for (std::string& plugin : remove_plugin_options(arguments)) plugins.push_back(std::move(plugin));
  lua::enable_lua_plugins_in_own_state(make_command_state);
  return plugins.empty() || load_command_plugins(plugins) ? command.run(arguments) : 1;
}

int show_usage() { return std::cout << usage() << description() << variables_text(), 0; }

/// Whether the program was called as "crescent help" or "crescent help COMMAND", and there is no
/// script named help.
bool asks_for_help(const Invocation& invocation) {
  return invocation.script_index < invocation.argc &&
         std::strcmp(invocation.argv[invocation.script_index], "help") == 0 &&
         access("help", F_OK) != 0;
}

int show_help(const char* name) {
  if (!name) return show_usage();
  const Command* command = find_command(name);
  if (command) return run_command(*command, {"--help"}, {});
  std::vector<std::string> names;
  for (const Command& candidate : commands()) names.push_back(candidate.name);
  throw UsageError(concat("there is no command '", name, "'", did_you_mean(name, names),
                          "; crescent --help lists them, crescent describe NAME and help(x) at the "
                          "prompt tell of what can be called"));
}

int run(int argc, char** argv) {
  const Invocation invocation = parse(argc, argv);
  if (invocation.has("help")) return show_usage();
  if (asks_for_help(invocation)) return show_help(argv[invocation.script_index + 1]);
  if (invocation.has("version"))
    return std::printf("Crescent %s (%s)\n", CRESCENT_VERSION, LUA_RELEASE), 0;
  if (invocation.script_index < argc) {
    if (const Command* command = find_command(argv[invocation.script_index]))
      return run_command(*command, {argv + invocation.script_index + 1, argv + argc},
                         plugins_of(invocation));
    refuse_misspelt_command(argv[invocation.script_index]);
  }
  check_environment();
  return run_lua(invocation);
}

int report_exception(int status) {
  std::fprintf(stderr, "crescent: %s\n", printable(exception_text()).c_str());
  return status;
}

/// Ends the process with an error if standard output could not be written. It is registered to run
/// at exit, since scripts may end the process anywhere.
void check_output() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  std::fprintf(stderr, "crescent: cannot write to standard output: %s\n", std::strerror(errno));
  std::_Exit(1);
}

}  // namespace
}  // namespace crescent::program

int main(int argc, char** argv) {
  using namespace crescent::program;
  std::setlocale(LC_CTYPE, "");
  crescent::report_crashes();
  std::atexit(check_output);
  try {
    return run(argc, argv);
  } catch (const UsageError&) {
    return report_exception(2);
  } catch (...) {
    return report_exception(1);
  }
}
