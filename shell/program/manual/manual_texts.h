// The Lua scripts (shell/manual) that write the manual and the files for editors, as texts.
#pragma once
#include <string_view>

namespace crescent::program {

struct ManualText {
  std::string_view name;  ///< "reference.lua"
  std::string_view text;
};
/// The text with this name; fails if there is none.
const ManualText& manual_text(std::string_view name);

}  // namespace crescent::program
