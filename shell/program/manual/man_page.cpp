// crescent man-page: prints the man page crescent(1), made from the table of commands and the
// options.
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
std::string escaped_for_roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool is_line_start = escaped.empty() || escaped.back() == '\n';
    if (is_line_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '-' || c == '\\') escaped += c == '-' ? "\\" : "\\e";
    if (c != '\\') escaped += c;
  }
  return escaped;
}

std::string section(const char* name) { return concat(".SH ", name, "\n"); }

std::string entry(const std::string& term, const std::string& text) {
  return concat(".TP\n.B ", escaped_for_roff(term), "\n", escaped_for_roff(text), "\n");
}

std::string commands_section() {
  std::string text = section("COMMANDS");
  for (const Command& command : commands()) text += entry(usage_of(command), command.doc);
  return text;
}

std::string options_section() {
  std::string text = section("OPTIONS");
  const auto program_options = description();
  for (const auto& option : program_options.options())
    text += entry(option->format_name(), option->description());
  return text;
}

std::string variables_section() {
  std::string text = section("ENVIRONMENT");
  for (const auto& [name, meaning] : environment_variables()) text += entry(name, meaning);
  return text;
}

std::string man_page() {
  return concat(".TH crescent 1 \"\" \"Crescent ", CRESCENT_VERSION, "\"\n", section("NAME"),
                "crescent \\- deep learning with the object model of Keras and a Lua shell\n",
                section("SYNOPSIS"), ".B crescent\n[options] [SCRIPT [ARGUMENTS]]\n.br\n",
                ".B crescent\nCOMMAND [ARGUMENTS]\n", section("DESCRIPTION"),
                escaped_for_roff(scripts_text()), commands_section(), options_section(),
                variables_section(), section("SEE ALSO"),
                ".BR lua (1)\n.br\n.B crescent manual FOLDER\nwrites the whole manual.\n");
}

}  // namespace

int print_man_page(const std::vector<std::string>& arguments) {
  if (!arguments.empty()) fail_usage("man-page", "no argument is expected");
  print(man_page());
  return 0;
}

}  // namespace crescent::program
