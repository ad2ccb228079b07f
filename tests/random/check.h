// Runs a recipe in all possible ways and compares the results with the reference.
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
  std::optional<Recipe> other;  ///< the rewritten recipe, if that is the one that differed
  bool skipped = false;         ///< the reference is not reliable for it
};

/// `variant` seeds what is drawn beside the recipe: identities, variables, a device.
Outcome check(const Recipe& recipe, uint64_t variant);
/// Checks the recipe that these choices make.
Outcome check(const std::vector<uint32_t>& choices, uint64_t variant);

/// The recipe rewritten by identities.
Recipe rewritten(const Recipe& recipe, Choices& choices);

}  // namespace crescent::random_programs
