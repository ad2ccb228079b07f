#include "command_table.h"

#include "commands.h"
#include "file_commands.h"

namespace crescent::program {
namespace {

constexpr Command kCommands[] = {
    {"demo", "[--fast]", "a tour of the prompt; --fast: without pauses", show_demo},
    {"info", "[--json]", "kernels, threads, libraries and plugins in use", show_info},
    {"plugins", "[NAME or CLASS...] [--json]", "plugins and their classes, or who has a class",
     show_plugins},
    {"describe", "[NAME...] [--json]", "what can be called, with parameters and defaults",
     describe},
    {"manual", "FOLDER", "guide and reference as pages with a search, for a browser", make_manual},
    {"editor", "FOLDER", "types of LuaLS and snippets for editors", make_editor_files},
    {"man-page", "", "the manual page of the program, in roff", print_man_page},
    {"completion", "", "completion for bash, as a script", print_completion},
    {"new-plugin", "NAME [--kind KIND]", "a project for a plugin of your own", make_plugin,
     "KIND: layer (if none is given), op, loss, metric, optimizer, callback, format, device,\n"
     "  communicator, dataset, lua or lua-dataset"},
    {"check-plugin", "NAME [--options JSON] [--seconds N]",
     "whether its classes keep the rules that all keep", check_plugin_command,
     "JSON (or a file of it), for classes that have to be told:\n"
     "  {\"Class\": {\"options\": {\"units\": 2}, \"shapes\": [[3]]}}\n"
     "  also dtypes, low, high, batch_size, without (names of checks)\n"
     "N: the seconds that one check may take (60)"},
    {"inspect", "FILE [--json]", "what a file of a model or of arrays says about itself", inspect},
    {"convert", "A B [--dry-run] [--target keras3|keras2]", "a model's file as another kind",
     convert},
    {"verify", "A B", "whether two files compute and learn the same", verify},
    {"validate", "FILE [--data FILE] [--batch_size N]",
     "whether its compiled steps compute what float64 does", validate},
    {"replay", "FOLDER --step N [SCRIPT ARGUMENTS]",
     "whether a recorded training step gives the same again", replay,
     "FOLDER is the record of a fit with the callback ReplayRecorder; SCRIPT runs in the current\n"
     "  folder, the recorded script in that in which it ran. Ends with 0: equal, 1: different,\n"
     "  2: not computed. Callbacks and models write no files then; what the script writes itself,\n"
     "  up to the step, it writes again"}};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands)
    if (command.name == name) return &command;
  return nullptr;
}

std::string usage_of(const Command& command) {
  return concat("crescent ", command.name, *command.arguments ? " " : "", command.arguments);
}

void fail_usage(std::string_view command, const std::string& message) {
  throw UsageError(concat(message, "; usage: ", usage_of(*find_command(command))));
}

}  // namespace crescent::program
