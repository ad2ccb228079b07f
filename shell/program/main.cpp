// crescent: the prompt, scripts, and a few commands.
#include <unistd.h>

#include <boost/program_options.hpp>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "commands.h"
#include "crescent/base/error.h"
#include "crescent/base/export.h"
#include "file_commands.h"
#include "lua_state.h"
#include "module/models/background.h"
#include "module/values/interruption.h"
#include "prompt.h"
#include "signals.h"

namespace crescent::program {
namespace {

namespace po = boost::program_options;

constexpr const char* kUsage = R"(usage: crescent [options] [SCRIPT [ARGUMENTS]]
       crescent info              kernels, threads, libraries and plugins in use
       crescent plugins [NAME]    plugins and their classes
       crescent describe [NAME] [--json]   what can be called, with parameters and defaults
       crescent new-plugin NAME   a project for a plugin of your own
       crescent inspect FILE [--json]   what a file of a model or of arrays says about itself
       crescent convert A B [--dry-run] [--target keras3|keras2]   a model's file as another kind
       crescent verify A B        whether two files compute and learn the same
       crescent validate FILE [--data FILE] [--batch_size N]   whether its compiled steps compute
                                  what the plain program does in float64
Without a script: the prompt. SCRIPT - is standard input. A script that Ctrl-C, SIGTERM or SIGHUP
stops ends with 128 + the number of the signal: 130, 143, 129.

)";

po::options_description description() {
  po::options_description all("Options");
  all.add_options()("help,h", "this text")("version,v", "the version")(
      "execute,e", po::value<std::vector<std::string>>(), "run a text")(
      "library,l", po::value<std::vector<std::string>>(), "require a library")(
      "interactive,i", "the prompt after the script");
  return all;
}

/// Options end where the script's name begins: what follows is the script's.
int count_options(int argc, char** argv) {
  int i = 1;
  while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0') {
    const std::string option = argv[i];
    if (option == "--") return i + 1;
    const bool takes_value =
        option == "-e" || option == "-l" || option == "--execute" || option == "--library";
    i += takes_value ? 2 : 1;
  }
  return std::min(i, argc);
}

struct Command {
  const char* name;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr Command kCommands[] = {{"info", show_info},    {"inspect", inspect},
                                 {"convert", convert},   {"verify", verify},
                                 {"validate", validate}, {"plugins", show_plugins},
                                 {"describe", describe}, {"new-plugin", make_plugin}};

struct Invocation {
  int argc;
  char** argv;
  int script;                       ///< index of the script, or argc
  std::vector<po::option> options;  ///< in the order given
  bool has(const char* name) const {
    for (const po::option& option : options)
      if (option.string_key == name) return true;
    return false;
  }
};

Invocation parse(int argc, char** argv) try {
  Invocation call{argc, argv, count_options(argc, argv), {}};
  const int end = call.script > 1 && std::strcmp(argv[call.script - 1], "--") == 0 ? call.script - 1
                                                                                   : call.script;
  call.options = po::command_line_parser(std::vector<std::string>(argv + 1, argv + end))
                     .options(description())
                     .run()
                     .options;
  return call;
} catch (const po::error& error) {
  fail(error.what(), "; crescent --help lists the options");
}

/// A word that is neither a command nor a file, and nearly a command.
void refuse_misspelt_command(const char* word) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string guess = did_you_mean(word, names);
  if (!guess.empty() && access(word, F_OK) != 0)
    fail("there is no file and no command '", word, "'", guess);
}

/// -e and -l in their order.
bool run_options(lua_State* L, const Invocation& call) {
  for (const po::option& option : call.options) {
    if (option.string_key == "execute" && !run_text(L, option.value.at(0), "=(command line)"))
      return false;
    if (option.string_key == "library" && !require(L, option.value.at(0))) return false;
  }
  return true;
}

bool run_all(lua_State* L, const Invocation& call) {
  if (!run_options(L, call)) return false;
  const bool script = call.script < call.argc;
  if (script &&
      !run_file(L,
                std::strcmp(call.argv[call.script], "-") == 0 ? nullptr : call.argv[call.script]))
    return false;
  const bool asked = call.has("interactive"),
             idle = !script && !call.has("execute") && !call.has("library");
  if (asked || (idle && isatty(STDIN_FILENO))) return show_tables(L), run_prompt(L);
  if (idle) return run_file(L, nullptr);
  return true;
}

/// Runs in the background end like runs that were stopped; what went wrong in them is told.
void end_runs() try {
  lua::stop_runs();
  for (const std::string& error : lua::untold_errors_of_runs())
    std::fprintf(stderr, "crescent: %s\n", printable(error).c_str());
} catch (const Error& error) {
  std::fprintf(stderr, "crescent: %s\n", printable(error.what()).c_str());
}

/// The protected part: arguments are the Invocation and where the outcome goes.
int main_in_lua(lua_State* L) {
  const auto& call = *static_cast<const Invocation*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  open_libraries(L);
  set_arguments(L, call.argv, call.argc, call.script < call.argc ? call.script : 0);
  const bool good = run_all(L, call);
  end_runs();
  lua_pushboolean(L, good);
  return 1;
}

int run_lua(const Invocation& call) {
  lua_State* L = luaL_newstate();
  if (!L) fail("not enough memory for Lua");
  lua_gc(L, LUA_GCGEN, 0, 0);  // temporary tensors go at once
  lua_pushcfunction(L, main_in_lua);
  lua_pushlightuserdata(L, const_cast<Invocation*>(&call));
  const bool ended = lua_pcall(L, 1, 1, 0) == LUA_OK;
  if (!ended) report(L);
  const bool good = ended && lua_toboolean(L, -1);
  if (!good && stop_signal()) lua::end_soon(stop_signal());  // threads may not come to an end
  lua_close(L);
  if (good) return 0;
  return stop_signal() ? 128 + stop_signal() : 1;
}

int run(int argc, char** argv) {
  const Invocation call = parse(argc, argv);
  if (call.has("help")) return std::cout << kUsage << description(), 0;
  if (call.has("version"))
    return std::printf("Crescent %s (%s)\n", CRESCENT_VERSION, LUA_RELEASE), 0;
  if (call.script < argc)
    for (const Command& command : kCommands)
      if (std::strcmp(argv[call.script], command.name) == 0)
        return command.run(std::vector<std::string>(argv + call.script + 1, argv + argc));
  if (call.script < argc) refuse_misspelt_command(argv[call.script]);
  return run_lua(call);
}

}  // namespace
}  // namespace crescent::program

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  try {
    return crescent::program::run(argc, argv);
  } catch (...) {
    std::fprintf(stderr, "crescent: %s\n", crescent::printable(crescent::exception_text()).c_str());
    return 1;
  }
}
