// Check: a recipe run in every way there is, beside the reference.
#pragma once
#include <optional>
#include <string>

#include "random/choices.h"
#include "random/recipe.h"

namespace crescent::random_programs {

struct Difference {
  std::string way;   ///< "compiled", ...
  std::string text;  ///< which element, what came and what should have come
};

struct Outcome {
  std::optional<Difference> difference;
  std::optional<Recipe> other;  ///< the recipe as it was written when it differed, if another way
  bool skipped = false;         ///< the reference says nothing
};

/// `variant` decides what is drawn beside the recipe: identities, variables, a device.
Outcome check(const Recipe& recipe, uint64_t variant);
/// The same of what the choices make.
Outcome check(const std::vector<uint32_t>& choices, uint64_t variant);

/// The recipe with values written in other ways that are truly the same.
Recipe rewritten(const Recipe& recipe, Choices& choices);

}  // namespace crescent::random_programs
