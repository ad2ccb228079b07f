// Shows texts that are longer than the screen.
#pragma once
#include <string>

namespace crescent::program {

/// Prints a text and a line end. A text with more rows than the terminal is shown by $PAGER, or by
/// less if it is not set, unless `is_paged` is false or the terminal cannot move its cursor.
void print_paged(const std::string& text, bool is_paged);

}  // namespace crescent::program
