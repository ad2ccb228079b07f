// Commands about the program, its classes and plugins. Each returns the exit status.
#pragma once
#include <string>
#include <vector>

namespace crescent::program {

/// Prints versions, devices and plugins; with --json as JSON. With a file as argument, does what
/// inspect() does.
int show_info(const std::vector<std::string>& arguments);
int show_plugins(const std::vector<std::string>& names);
/// Prints the listing of everything that can be called, or the entries with the given names; with
/// --json as JSON.
int describe(const std::vector<std::string>& arguments);
/// "crescent manual FOLDER": writes HTML pages from the guide and from the listing.
int make_manual(const std::vector<std::string>& folders);
/// "crescent editor FOLDER": writes files for completion in text editors, made from the listing of
/// everything that can be called.
int make_editor_files(const std::vector<std::string>& folders);
/// "crescent man-page": prints the man page crescent(1), made from the table of commands.
int print_man_page(const std::vector<std::string>& arguments);
/// "crescent completion": prints the completion for bash, made from the table of commands.
/// "crescent completion endings", which that completion calls: prints the endings of the files that
/// formats read.
int print_completion(const std::vector<std::string>& arguments);
/// The kinds of plugins that "crescent new-plugin --kind KIND" makes.
std::vector<std::string> kinds_of_new_plugins();
int make_plugin(const std::vector<std::string>& names);
/// "crescent check-plugin NAME [--options JSON]": checks the classes of a plugin.
int check_plugin_command(const std::vector<std::string>& arguments);
/// "crescent replay FOLDER --step N": computes a recorded training step again, in a process of its
/// own, and prints whether it is equal to the record or which tensor differs first.
int replay(const std::vector<std::string>& arguments);
/// "crescent demo [--fast]": shows a tour of the prompt.
int show_demo(const std::vector<std::string>& arguments);

}  // namespace crescent::program
