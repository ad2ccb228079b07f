// crescent man-page and crescent completion: their output is made from the table of commands and
// the options.
#include <algorithm>
#include <sstream>

#include "../command_table.h"
#include "../commands.h"
#include "../file_commands.h"
#include "../usage.h"
#include "crescent/base/export.h"

namespace crescent::program {
namespace {

/// Escapes a text for roff, in which dashes, quotes and backslashes have a special meaning.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool begins = escaped.empty() || escaped.back() == '\n';
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '-' || c == '\\') escaped += c == '-' ? "\\" : "\\e";
    if (c != '\\') escaped += c;
  }
  return escaped;
}

std::string section(const char* name) { return concat(".SH ", name, "\n"); }

std::string entry(const std::string& term, const std::string& text) {
  return concat(".TP\n.B ", roff(term), "\n", roff(text), "\n");
}

std::string commands_section() {
  std::string text = section("COMMANDS");
  for (const Command& command : commands()) text += entry(usage_of(command), command.doc);
  return text;
}

std::string options_section() {
  std::string text = section("OPTIONS");
  const auto all = description();
  for (const auto& option : all.options())
    text += entry(option->format_name(), option->description());
  return text;
}

/// The environment variables for the man page, from the rows "  NAME  text" of --help; other lines
/// are left out.
std::string variables_section() {
  std::string text = section("ENVIRONMENT");
  std::istringstream lines(variables_text());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    const size_t end = line.find(' ', 2), begin = line.find_first_not_of(' ', end);
    text += entry(line.substr(2, end - 2), line.substr(begin));
  }
  return text;
}

std::string man_page() {
  return concat(".TH crescent 1 \"\" \"Crescent ", CRESCENT_VERSION, "\"\n", section("NAME"),
                "crescent \\- deep learning with the object model of Keras and a Lua shell\n",
                section("SYNOPSIS"), ".B crescent\n[options] [SCRIPT [ARGUMENTS]]\n.br\n",
                ".B crescent\nCOMMAND [ARGUMENTS]\n", section("DESCRIPTION"), roff(scripts_text()),
                commands_section(), options_section(), variables_section(), section("SEE ALSO"),
                ".BR lua (1)\n.br\n.B crescent manual FOLDER\nwrites the whole manual.\n");
}

/// The options (words that begin with two dashes) in the usage of a command.
std::string flags_of(const Command& command) {
  std::string flags;
  std::istringstream words(command.arguments);
  for (std::string word; words >> word;)
    if (const size_t dash = word.find("--"); dash != word.npos)
      flags += word.substr(dash, word.find(']') - dash) + " ";
  return flags;
}

/// Shell code that lists the names that a command takes as arguments; "" if it takes none.
std::string words_of(const Command& command) {
  const std::string_view name = command.name;
  if (name == "describe") return "$(\"$1\" describe 2>/dev/null | sed 's/(.*//')";
  if (name == "plugins" || name == "check-plugin")
    return "$(\"$1\" plugins 2>/dev/null | sed -n 's/^\\([^ ]*\\) .*  (.*/\\1/p')";
  return "";
}

std::string completion() {
  std::string names, cases;
  for (const Command& command : commands()) {
    names += concat(command.name, " ");
    cases +=
        concat("    ", command.name, ") words=\"", flags_of(command), words_of(command), "\" ;;\n");
  }
  const auto all = description();
  for (const auto& option : all.options()) names += "--" + option->long_name() + " ";
  return concat("# Completion of bash for crescent.\n_crescent() {\n",
                "  local words= word=\"${COMP_WORDS[COMP_CWORD]}\"\n",
                "  [ \"$COMP_CWORD\" -eq 1 ] && words=\"", names, "\"\n",
                "  [ \"$COMP_CWORD\" -gt 1 ] && case \"${COMP_WORDS[1]}\" in\n", cases, "  esac\n",
                "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n",
                "complete -o default -F _crescent crescent\n");
}

void refuse_arguments(const std::vector<std::string>& arguments, const char* command) {
  if (!arguments.empty()) fail_usage(command, "no argument is expected");
}

}  // namespace

int print_man_page(const std::vector<std::string>& arguments) {
  refuse_arguments(arguments, "man-page");
  print(man_page());
  return 0;
}

int print_completion(const std::vector<std::string>& arguments) {
  refuse_arguments(arguments, "completion");
  print(completion());
  return 0;
}

}  // namespace crescent::program
