#include "equation.h"

#include <cctype>

#include "crescent/base/error.h"

namespace crescent {

Letters::Letters(const std::string& text)
    : all_letters(text), letters_before_dots(std::min(text.find("..."), text.size())) {
  has_dots = letters_before_dots < text.size();
  if (has_dots) all_letters.erase(letters_before_dots, 3);
}

Equation Equation::parse(std::string text) {
  std::erase(text, ' ');
  const size_t comma_position = text.find(','), arrow_position = text.find("->");
  if (comma_position == std::string::npos || arrow_position == std::string::npos ||
      arrow_position < comma_position)
    fail(
        "equation: expected \"input,kernel->output\" such as \"abc,cd->abd\" or \"...c,cd->...d\", "
        "got \"",
        text, "\"");
  const Equation equation{
      Letters(text.substr(0, comma_position)),
      Letters(text.substr(comma_position + 1, arrow_position - comma_position - 1)),
      Letters(text.substr(arrow_position + 2))};
  for (const Letters* letters : {&equation.input, &equation.kernel, &equation.output})
    for (char c : letters->all_letters)
      if (!std::isalpha(static_cast<unsigned char>(c)))
        fail("equation: expected letters, at most one '...' and \"->\", got \"", text, "\"");
  if (equation.kernel.has_dots || equation.input.has_dots != equation.output.has_dots)
    fail("equation: '...' must be in input and output and not in the kernel, got \"", text, "\"");
  return equation;
}

}  // namespace crescent
