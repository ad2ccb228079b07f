// Commands about files of models. None runs code from a file.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "crescent/base/value.h"

namespace crescent {
class Format;
}

namespace crescent::program {

/// "crescent inspect FILE [--json]": what the file says about itself, read from its headers.
int inspect(const std::vector<std::string>& arguments);
/// "crescent convert A B [--dry-run] [--target T]": the model or the weights of A as B, or why not.
int convert(const std::vector<std::string>& arguments);
/// "crescent verify A B": whether two models compute and learn the same; names the first layer that
/// differs.
int verify(const std::vector<std::string>& arguments);
/// "crescent validate FILE [--data FILE]": whether the model's compiled steps compute what its
/// plain program does; names the first instruction, pass and kernel that do not.
int validate(const std::vector<std::string>& arguments);

/// What `inspect` tells, as a dict. Fails when the format has nothing to tell.
Value described_file(const std::string& path);

/// Whether files of the format can do this, such as ModelFormat::kAbility.
bool format_can(const Format& format, std::string_view ability);

/// A text as it is, everything else as JSON.
inline std::string text_of(const Value& value) {
  return value.is_string() ? value.as_string() : to_json(value);
}

/// Names out of files and plugins come as they can be shown.
void print(const std::string& text, FILE* to = stdout);

/// Arguments of such a command: paths, and options with or without a value.
struct FileArguments {
  std::vector<std::string> paths;
  Dict options;
  /// Fails with the usage of the command when there are other options, or not `paths` paths.
  FileArguments(const std::vector<std::string>& arguments, const char* command, size_t paths,
                const std::vector<std::string>& flags, const std::vector<std::string>& values = {});
  bool has(const char* flag) const { return options.contains(flag); }
};

}  // namespace crescent::program
