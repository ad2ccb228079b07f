// What a crash of the prompt leaves to the user.
#pragma once
#include <string>

namespace crescent::program {

/// If the process crashes, a line on stderr will follow those of report_crashes() that names the
/// file of the history, in which the inputs of this session are.
void name_history_in_crashes(const std::string& history_path);

}  // namespace crescent::program
