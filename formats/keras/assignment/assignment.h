// From the datasets of a file to the variables that they were matched with. Nothing is assigned
// before everything has been read and checked.
#pragma once
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Reads all datasets, then assigns all variables. Fails on the first shape that differs.
void assign_all(WeightSource& file, Matches matches);
/// The same for variables that have values, which change when nothing can fail any more: the
/// numbers are checked in the mapped file, and then copied to the memory that variables have.
void replace_all(WeightSource& file, Matches matches);

}  // namespace crescent::keras
