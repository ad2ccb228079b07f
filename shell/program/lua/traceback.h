// The traceback of an error, without the program's own functions.
#pragma once
#include <lua.hpp>
#include <string>
#include <string_view>

namespace crescent::program {

/// The text with which a traceback in a message begins.
inline constexpr std::string_view kTraceback = "\nstack traceback:";

/// Whether a called function is in the user's code. lua_getinfo must have filled `frame` with the
/// option "S".
bool is_of_user(const lua_Debug& frame);

/// The text of the calls in the user's code from stack level `level` on, the innermost first; if
/// there are many, only the first and the last ones. `main_index` is the stack index of the main
/// chunk's function. With CRESCENT_TRACEBACK=full in the environment all calls are listed, also
/// those in the program's own code. Empty if there is only one location and the message already
/// begins with it.
std::string traceback(lua_State* L, int level, int main_index, std::string_view message);

}  // namespace crescent::program
