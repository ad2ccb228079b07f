// The floating-point operations of the ops of a program.
#pragma once
#include <map>
#include <string>

#include "crescent/program/program.h"

namespace crescent {

/// The floating-point operations of a run of the program, by the scope that recorded them. Sizes
/// must be known. An op without a rule counts as what it decomposes into; one that only moves,
/// chooses or draws elements counts nothing, and so do decompositions of matrices whose number of
/// steps depends on the values.
std::map<std::string, double> flops_by_scope(const Program& program);

}  // namespace crescent
