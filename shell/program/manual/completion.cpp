// crescent completion: the completion for bash, which is made from the table of commands and the
// options.
#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../command_table.h"
#include "../commands.h"
#include "../file_commands.h"
#include "../usage.h"
#include "crescent/io/format.h"
#include "crescent/registry/registry.h"

namespace crescent::program {
namespace {

/// Shell code that lists the names of plugins.
constexpr const char* kPluginNamesCode =
    "$(\"$1\" plugins 2>/dev/null | sed -n 's/^\\([^ ]*\\) .*  (.*/\\1/p')";
/// Shell code that lists the names of all that `crescent describe` describes.
constexpr const char* kNamesCode = "$(\"$1\" describe 2>/dev/null | sed 's/(.*//')";
/// Shell code that lists the endings of the files that formats read. It asks the program whenever
/// something is completed, because plugins may add formats.
constexpr const char* kEndingsCode = "$(\"$1\" completion endings 2>/dev/null)";

/// The beginning of the bash code. The function _crescent first searches the command: the first
/// word that is neither an option nor the value of an option.
constexpr const char* kBeginning = R"(# Completion of bash for crescent.
_crescent_files() {  # adds folders, and files with one of these endings
  local name ending
  while IFS= read -r name; do
    if [ -d "$name" ]; then COMPREPLY+=("$name"); continue; fi
    for ending in $1; do
      if [[ $name == *"$ending" ]]; then COMPREPLY+=("$name"); fi
    done
  done < <(compgen -f -- "$2")
}
_crescent() {
  local i words= endings command=
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${COMP_WORDS[i]}" in
    -e|--execute|-l|--library|--plugin) ((++i)) ;;
    -*) ;;
    *) command="${COMP_WORDS[i]}"; break ;;
    esac
  done
  case "$command $before" in
  *" -e"|*" --execute"|*" -l"|*" --library") ;;
)";

constexpr const char* kEnd = R"(  *) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ -z "${endings+set}" ] || _crescent_files "$endings" "$word"
}
complete -o filenames -F _crescent crescent
)";

/// What bash may complete an argument to: words, and files.
struct Candidates {
  std::string words;
  const char* endings = nullptr;  ///< the endings of the files that are candidates beside all
                                  ///< folders; null: neither files nor folders are candidates
};

/// The candidates for a word in the usage of a command, such as FILE.
Candidates candidates_for(const Command& command, std::string word) {
  const std::string_view name = command.name;
  if (word == "KIND") return {join(kinds_of_new_plugins(), " ")};
  if (word == "FILE" || word == "A" || word == "B") return {"", kEndingsCode};
  if (word == "FOLDER") return {"", ""};
  if (word == "NAME" && name != "new-plugin")
    return {name == "describe" ? kNamesCode : kPluginNamesCode};
  if (word.find('|') == word.npos) return {};
  std::replace(word.begin(), word.end(), '|', ' ');
  return {word};
}

/// A branch of the case statement in the bash code, for texts "COMMAND PREVIOUS_WORD" that match
/// the pattern.
std::string branch(const std::string& pattern, const Candidates& candidates) {
  std::string text = concat("  ", pattern, ") words=\"", candidates.words, "\"");
  if (candidates.endings) text += concat(" endings=\"", candidates.endings, "\"");
  return text + " ;;\n";
}

/// The words in the usage of a command, without brackets and dots.
std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words;
  std::istringstream usage(command.arguments);
  for (std::string word; usage >> word;) {
    std::erase_if(word, [](char c) { return c == '[' || c == ']' || c == '.'; });
    words.push_back(word);
  }
  return words;
}

/// The branches of the case statement for a command: one for the values of each option, and one for
/// its other arguments.
std::string branches_of(const Command& command) {
  const std::string quoted_name = concat("\"", command.name, " ");
  std::string text;
  Candidates argument_candidates;
  const std::vector<std::string> words = words_of(command);
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      const Candidates candidates = candidates_for(command, words[i]);
      argument_candidates.words += candidates.words + (candidates.words.empty() ? "" : " ");
      if (candidates.endings) argument_candidates.endings = candidates.endings;
      continue;
    }
    argument_candidates.words += words[i] + " ";
    const bool has_value =
        i + 1 < words.size() && !words[i + 1].starts_with("--") &&
        std::string_view(command.arguments).find(words[i] + " ") != std::string_view::npos;
    if (!has_value) continue;
    text += branch(quoted_name + words[i] + "\"", candidates_for(command, words[i + 1]));
    ++i;
  }
  return text + branch(quoted_name + "\"*", argument_candidates);
}

std::string completion() {
  std::string names, branches;
  for (const Command& command : commands()) {
    names += concat(command.name, " ");
    branches += branches_of(command);
  }
  std::string options = "help ";
  const auto program_options = description();
  for (const auto& option : program_options.options()) options += "--" + option->long_name() + " ";
  return concat(kBeginning, branch("*\" --plugin\"", {kPluginNamesCode, ".so .lua"}),
                branch("\" \"*", {names + options, ".lua"}), branch("\"help \"*", {names}),
                branches, kEnd);
}

std::string endings_of_files() {
  std::string text;
  for (const std::string& name : registry().names(Format::kKind)) {
    const Dict traits = registry().traits(Format::kKind, name);
    if (const Value* endings = traits.find("endings"))
      for (const Value& ending : endings->as_list()) text += ending.as_string() + " ";
  }
  return text + "\n";
}

}  // namespace

int print_completion(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"endings"}) return print(endings_of_files()), 0;
  if (!arguments.empty()) fail_usage("completion", "no argument is expected");
  print(completion());
  return 0;
}

}  // namespace crescent::program
