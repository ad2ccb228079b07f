// What loading weights would do, weight by weight, told before anything is changed.
#pragma once
#include <string>
#include <vector>

#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

struct WeightRow {
  /// missing: the file has no array for it. unexpected: an array that no weight takes.
  enum class WeightStatus { loaded, missing, unexpected, misfitting };
  WeightStatus status;
  std::string weight, array;  ///< "" for the one that is not there
  Shape wanted, saved;
};

/// Weights in the model's order, then arrays that are left over of `arrays`, all that the file has.
std::vector<WeightRow> weight_report(WeightSource& file, Model& model, const Matches& matches,
                                     const Names& arrays);
/// A line each: "loaded      dense/kernel (4, 8) <- dense/dense/kernel:0".
std::string to_text(const std::vector<WeightRow>& rows);

}  // namespace crescent::keras
