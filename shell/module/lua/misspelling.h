// Names that are written almost like another one.
#pragma once
#include <string_view>

namespace crescent::lua {

/// Whether `word` is `intended_word` with one typing error (a letter that is missing, wrong or
/// superfluous, or two neighbours in the wrong order), or differs from it only in case and
/// underscores ("getConfig"). The first letter must be right, and a plural is no misspelling. In
/// words of up to four letters only neighbours in the wrong order count as an error.
bool is_misspelling(std::string_view word, std::string_view intended_word);

}  // namespace crescent::lua
