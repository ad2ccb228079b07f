// crescent info, crescent plugins [NAME], crescent new-plugin NAME. Each returns the exit status.
#pragma once
#include <string>
#include <vector>

namespace crescent::program {

int show_info();
int show_plugins(const std::vector<std::string>& names);
int make_plugin(const std::vector<std::string>& names);

}  // namespace crescent::program
