// A report that lists, for each weight, what would happen if weights were loaded from a file. The
// model is not changed.
#pragma once
#include <string>
#include <vector>

#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

struct WeightRow {
  /// `missing` means that the file has no array for the weight, `unexpected` that the model has no
  /// weight for the array, `misfitting` that their shapes differ.
  enum class WeightStatus { loaded, missing, unexpected, misfitting };
  WeightStatus status;
  std::string weight;  ///< the path of the weight; "" if the model has no weight for the array
  std::string array;   ///< the name of the array; "" if the file has no array for the weight
  Shape weight_shape, array_shape;
};

/// One row per weight in the order of the model, then one row per array that belongs to no weight;
/// `arrays` are all arrays of the file.
std::vector<WeightRow> weight_report(WeightSource& file, Model& model, const Matches& matches,
                                     const Names& arrays);
/// A line per row: "loaded      dense/kernel (4, 8) <- dense/dense/kernel:0".
std::string to_text(const std::vector<WeightRow>& rows);

}  // namespace crescent::keras
