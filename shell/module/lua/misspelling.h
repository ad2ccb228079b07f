// Names that are written almost like another one.
#pragma once
#include <string_view>

namespace crescent::lua {

/// Whether `written` is `meant` with one slip of the keys, a letter that is missing, wrong or too
/// much, or two neighbours in the wrong order, or differs from it only in case and underscores
/// ("getConfig"). The first letter has to be right; a plural, and another word of four letters, is
/// no misspelling.
bool is_misspelling(std::string_view written, std::string_view meant);

}  // namespace crescent::lua
