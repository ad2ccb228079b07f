#include "usage.h"

#include <sstream>

#include "command_table.h"

namespace crescent::program {
namespace {

namespace po = boost::program_options;

constexpr const char* kScripts =
    R"(Without a script: the prompt. SCRIPT - is standard input. A script that Ctrl-C, SIGTERM or
SIGHUP stops ends with 128 + the number of the signal: 130, 143, 129. Errors end with 1, and with 2
where the program was called wrongly.

)";

constexpr const char* kVariables = R"(
Environment:
  CRESCENT_DEVICE         class or plugin of the device that computes; cpu
  CRESCENT_COMMUNICATOR   class or plugin by which several processes train; single
  CRESCENT_PLUGIN_PATH    folders in which plugins are looked for, separated by ':'
  CRESCENT_PROGRAM_CACHE  bytes that compiled programs may take; those go first that are not used
  CRESCENT_ONEDNN         0: without oneDNN
  CRESCENT_INIT           the startup file of the prompt; init.lua in ~/.config/crescent
  CRESCENT_TRACEBACK      full: tracebacks with calls that are not the user's
  PAGER                   what shows results that are longer than the screen; less
  KERAS_HOME              folder of downloaded data and weights; ~/.keras
)";

}  // namespace

std::string usage() {
  constexpr size_t kColumn = 36;
  std::string text = "usage: crescent [options] [SCRIPT [ARGUMENTS]]\n";
  for (const Command& command : commands()) {
    const std::string line = "       " + usage_of(command);
    const bool fits = line.size() + 2 <= kColumn;
    text += line + (fits ? "" : "\n") + std::string(kColumn - (fits ? line.size() : 0), ' ') +
            command.doc + "\n";
  }
  return text + kScripts;
}

po::options_description description() {
  po::options_description result("Options");
  result.add_options()("help,h", "this text")("version,v", "the version")(
      "execute,e", po::value<std::vector<std::string>>(), "run a text and print what it gives")(
      "library,l", po::value<std::vector<std::string>>(), "require a library")(
      "plugin", po::value<std::vector<std::string>>(), "load a plugin; of commands too")(
      "interactive,i", "the prompt after the script, also when that fails")(
      "no-init", "the prompt without the user's startup file");
  return result;
}

const char* scripts_text() { return kScripts; }

const char* variables_text() { return kVariables; }

std::vector<std::pair<std::string, std::string>> environment_variables() {
  std::vector<std::pair<std::string, std::string>> variables;
  std::istringstream lines(kVariables);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    const size_t end = line.find(' ', 2), begin = line.find_first_not_of(' ', end);
    variables.emplace_back(line.substr(2, end - 2), line.substr(begin));
  }
  return variables;
}

}  // namespace crescent::program
