// The commands of the program, by name.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crescent/base/error.h"

namespace crescent::program {

/// A command: crescent NAME ARGUMENTS.
struct Command {
  const char *name, *arguments, *doc;
  int (*run)(const std::vector<std::string>& arguments);  ///< returns the exit status
  const char* details = nullptr;                          ///< further lines of the command's own
                                                          ///< help
};

std::span<const Command> commands();
/// The command with this name; null if there is none.
const Command* find_command(std::string_view name);
/// The usage of a command: "crescent verify A B".
std::string usage_of(const Command& command);

/// An error in the arguments of the program. The program prints its message and ends with status 2.
struct UsageError : Error {
  using Error::Error;
};
/// Fails with the message and the usage of the command.
[[noreturn]] void fail_usage(std::string_view command, const std::string& message);

}  // namespace crescent::program
