// Shows texts that are longer than the screen.
#pragma once
#include <string>

namespace crescent::program {

/// Prints a text and a line end. One that has more rows than the terminal is shown by $PAGER, else
/// by less, unless `is_paged` is false or the terminal cannot move its cursor.
void print_paged(const std::string& text, bool is_paged);

}  // namespace crescent::program
