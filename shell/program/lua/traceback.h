// Where an error was raised, as its user sees it.
#pragma once
#include <lua.hpp>
#include <string>
#include <string_view>

namespace crescent::program {

/// What a traceback begins with.
inline constexpr std::string_view kTraceback = "\nstack traceback:";

/// The calls in code of the user from `level` on, the innermost first; of many the first and the
/// last. `main` is the index of the function that is the chunk. With CRESCENT_TRACEBACK=full in the
/// environment all calls are told, those in this program's own code too. Empty where the message
/// says as much.
std::string traceback(lua_State* L, int level, int main, std::string_view message);

}  // namespace crescent::program
