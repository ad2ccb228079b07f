// Commands about the program, its classes and plugins. Each returns the exit status.
#pragma once
#include <string>
#include <vector>

namespace crescent::program {

/// --json: as a program reads it. With a file: what inspect tells of that.
int show_info(const std::vector<std::string>& arguments);
int show_plugins(const std::vector<std::string>& names);
/// Everything that can be called, or what is called so; --json: as a program reads it.
int describe(const std::vector<std::string>& arguments);
/// "crescent manual FOLDER": pages of HTML from the guide and from the listing of everything.
int make_manual(const std::vector<std::string>& folders);
/// "crescent editor FOLDER": what editors know of Lua, from the same listing.
int make_editor_files(const std::vector<std::string>& folders);
/// "crescent man-page": crescent(1), from the table of commands.
int print_man_page(const std::vector<std::string>& arguments);
/// "crescent completion": what bash completes, from the table of commands.
int print_completion(const std::vector<std::string>& arguments);
int make_plugin(const std::vector<std::string>& names);
/// "crescent check-plugin NAME [--options JSON]": whether its classes keep the rules.
int check_plugin_command(const std::vector<std::string>& arguments);
/// "crescent demo [--fast]": a tour of the prompt.
int show_demo(const std::vector<std::string>& arguments);

}  // namespace crescent::program
