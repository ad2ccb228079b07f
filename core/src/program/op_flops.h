// The floating-point operations of the ops of a program.
#pragma once
#include <map>
#include <string>

#include "crescent/program/program.h"

namespace crescent {

/// The floating-point operations of a run of the program, by the scope that recorded them. All
/// sizes must be known. An op without a rule counts as its decomposition. Ops that only move,
/// select or draw elements count 0, and so do matrix decompositions whose number of steps depends
/// on values.
std::map<std::string, double> flops_by_scope(const Program& program);

}  // namespace crescent
