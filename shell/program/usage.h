// The text of `crescent --help`, in parts that the man page also uses.
#pragma once
#include <boost/program_options.hpp>
#include <string>
#include <utility>
#include <vector>

namespace crescent::program {

/// The usage of the program: its commands with a short description each.
std::string usage();
/// The options that are given before a script.
boost::program_options::options_description description();
/// The text that says how scripts are run and how they end.
const char* scripts_text();
/// The environment variables, one line each, below a heading.
const char* variables_text();
/// The names of the environment variables with their meanings, as variables_text() has them.
std::vector<std::pair<std::string, std::string>> environment_variables();

}  // namespace crescent::program
