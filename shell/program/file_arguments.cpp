#include <algorithm>

#include "command_table.h"
#include "crescent/base/strict_json.h"
#include "file_commands.h"

namespace crescent::program {
namespace {

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What the first argument of the command is, by its usage: "NAME [--options JSON]" begins with a
/// name.
const char* argument_noun(const char* command) {
  const std::string_view arguments = find_command(command)->arguments;
  return arguments.starts_with("NAME")     ? "name"
         : arguments.starts_with("FOLDER") ? "folder"
                                           : "file";
}

}  // namespace

void print(const std::string& text, FILE* file) { std::fputs(printable(text).c_str(), file); }

void print_json(const Value& value) { print(to_strict_json(value) + "\n"); }

FileArguments::FileArguments(const std::vector<std::string>& arguments, const char* command,
                             size_t path_count, const std::vector<std::string>& flags,
                             const std::vector<std::string>& options_with_value) {
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    if (!it->starts_with("--")) {
      paths.push_back(*it);
      continue;
    }
    const std::string name = it->substr(2);
    if (is_among(flags, name)) {
      options.set(name, true);
    } else if (is_among(options_with_value, name) && it + 1 != arguments.end()) {
      options.set(name, *++it);
    } else {
      std::vector<std::string> option_names;
      for (const auto* names : {&flags, &options_with_value})
        for (const std::string& option : *names) option_names.push_back("--" + option);
      fail_usage(command, concat(is_among(options_with_value, name) ? "expected a value after '"
                                                                    : "no option '",
                                 *it, "'", did_you_mean(*it, option_names)));
    }
  }
  if (paths.size() != path_count)
    fail_usage(command, concat("expected ", path_count, " ", argument_noun(command),
                               path_count == 1 ? ", got " : "s, got ", paths.size()));
}

}  // namespace crescent::program
