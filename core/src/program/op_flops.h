// The floating-point operations of the ops of a program.
#pragma once
#include <map>
#include <string>

#include "crescent/program/program.h"

namespace crescent {

/// The number of floating-point operations of a run of the program, by the scope (the path of a
/// layer) in which the ops were recorded. All sizes must be known. Ops without a rule of their own
/// are counted by their decomposition. Ops that only move, select or draw elements count 0, and so
/// do matrix decompositions whose number of steps depends on values.
std::map<std::string, double> flops_by_scope(const Program& program);

}  // namespace crescent
