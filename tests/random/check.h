// Check: runs a recipe in all ways (compiled, eager, with variables, ...) and compares the results
// with the reference interpreter.
#pragma once
#include <optional>
#include <string>

#include "random/choices.h"
#include "random/recipe.h"

namespace crescent::random_programs {

struct Difference {
  std::string way;   ///< "compiled", ...
  std::string text;  ///< the element that differs, its value and the expected value
};

struct Outcome {
  std::optional<Difference> difference;
  /// The recipe rewritten by identities, if only the rewritten one gave a different result.
  std::optional<Recipe> rewritten_recipe;
  bool is_skipped = false;  ///< whether the reference is unreliable for this recipe
};

/// Checks a recipe. `variant` is the seed of the choices that are not part of the recipe:
/// identities, variables, a device.
Outcome check(const Recipe& recipe, uint64_t variant);
/// Checks the recipe that is made from these choices.
Outcome check(const std::vector<uint32_t>& choices, uint64_t variant);

/// The recipe with some values computed by other ops, according to mathematical identities.
Recipe rewritten(const Recipe& recipe, Choices& choices);

}  // namespace crescent::random_programs
