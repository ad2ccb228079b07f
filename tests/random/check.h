// Check: runs a random program (a Recipe) in all ways (compiled, eager, with variables, ...) and
// compares the results with the reference interpreter.
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
  /// The program rewritten by identities, if only the rewritten program gave a wrong result.
  std::optional<Recipe> rewritten_recipe;
  bool is_skipped = false;  ///< whether the reference is unreliable for this program
};

/// Runs the program `recipe` in all ways and compares the results with those of the reference
/// interpreter. `variant` is the seed of the choices that are not part of the program: identities,
/// variables, a device.
Outcome check(const Recipe& recipe, uint64_t variant);
/// Does the same for the program that is made from these choices.
Outcome check(const std::vector<uint32_t>& choices, uint64_t variant);

/// The program with some values computed by other ops, according to mathematical identities.
Recipe rewritten(const Recipe& recipe, Choices& choices);

}  // namespace crescent::random_programs
