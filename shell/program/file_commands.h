// Commands for files of models. They never run code that a file contains.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "crescent/base/value.h"

namespace crescent {
class Format;
}

namespace crescent::program {

/// "crescent inspect FILE [--json]": prints a summary of the file, read from its headers.
int inspect(const std::vector<std::string>& arguments);
/// "crescent convert A B [--dry-run] [--target T]": writes the model or the weights in file A to
/// file B, or fails with the reason.
int convert(const std::vector<std::string>& arguments);
/// "crescent verify A B": checks whether two models compute and train alike; reports the first
/// layer that differs.
int verify(const std::vector<std::string>& arguments);
/// "crescent validate FILE [--data FILE]": checks whether the model's compiled steps compute the
/// same as the unoptimized program; reports the first instruction, pass and kernel that differ.
int validate(const std::vector<std::string>& arguments);

/// The summary that `inspect` prints, as a dictionary. Fails for formats from which no summary can
/// be made.
Value file_summary(const std::string& path);

/// Whether the format has the ability, such as ModelFormat::kAbility.
bool format_can(const Format& format, std::string_view ability);

/// The text of a string, or the JSON of another value.
inline std::string text_of(const Value& value) {
  return value.is_string() ? value.as_string() : to_json(value);
}

/// Prints text; control characters in names from files and plugins are replaced.
void print(const std::string& text, FILE* file = stdout);
/// Prints a line of JSON for other programs.
void print_json(const Value& value);

/// The arguments of the commands for files: paths, flags, and options with a value.
struct FileArguments {
  std::vector<std::string> paths;
  Dict options;
  /// Fails, with the usage of the command, for unknown options and for a wrong number of paths.
  FileArguments(const std::vector<std::string>& arguments, const char* command, size_t path_count,
                const std::vector<std::string>& flags,
                const std::vector<std::string>& options_with_value = {});
  bool has(const char* flag) const { return options.contains(flag); }
};

}  // namespace crescent::program
