// The table of results that the program prints when its tests have run.
#pragma once
#include <string>

namespace crescent::faults {

/// Adds a row: the fault, how often it was injected, the outcome.
void report(const std::string& fault, int64_t times, const std::string& result);

}  // namespace crescent::faults
