// Shows texts that are longer than the screen.
#pragma once
#include <string>

namespace crescent::program {

/// Prints a text and a line end. A text with more rows than the terminal is shown by $PAGER, or by
/// less if it is not set, unless `may_use_pager` is false or the terminal cannot move its cursor.
void print_paged(const std::string& text, bool may_use_pager);

}  // namespace crescent::program
