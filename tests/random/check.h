// Check: runs a recipe in every way and compares the results with the reference.
#pragma once
#include <optional>
#include <string>

#include "random/choices.h"
#include "random/recipe.h"

namespace crescent::random_programs {

struct Difference {
  std::string way;   ///< the way of running, "compiled", ...
  std::string text;  ///< the element, its value and the expected value
};

struct Outcome {
  std::optional<Difference> difference;
  std::optional<Recipe> other;  ///< the rewritten recipe, if that one differed
  bool skipped = false;         ///< the reference gives no reliable result
};

/// `variant` determines random choices other than the recipe: identities, variables, a device.
Outcome check(const Recipe& recipe, uint64_t variant);
/// As above, for the recipe that these choices make.
Outcome check(const std::vector<uint32_t>& choices, uint64_t variant);

/// Rewrites the recipe by identities that do not change its values.
Recipe rewritten(const Recipe& recipe, Choices& choices);

}  // namespace crescent::random_programs
