// Assigns the datasets of a file to the variables with which they were matched. No variable is
// changed before all datasets have been read and checked.
#pragma once
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Reads all datasets, then assigns all variables. Fails on the first shape that differs.
void assign_all(WeightSource& file, Matches matches);
/// Replaces the values of variables from the mapped file: all values are checked first, and then
/// copied to the memory of the variables, which cannot fail.
void replace_all(WeightSource& file, Matches matches);

}  // namespace crescent::keras
