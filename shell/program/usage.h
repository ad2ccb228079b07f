// What `crescent --help` says, in the parts that the manual page has too.
#pragma once
#include <boost/program_options.hpp>
#include <string>

namespace crescent::program {

/// The usage of the program: its commands, with what each is for.
std::string usage();
/// The options that come before a script.
boost::program_options::options_description description();
/// How scripts are run and end.
const char* scripts_text();
/// The variables of the environment, a line each, below a heading.
const char* variables_text();

}  // namespace crescent::program
