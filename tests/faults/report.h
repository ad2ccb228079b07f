// The table of results that the test program prints after its tests have run.
#pragma once
#include <string>

namespace crescent::faults {

/// Adds a row to the table: the fault, how often it was injected, and the outcome.
void report(const std::string& fault, int64_t injection_count, const std::string& result);

}  // namespace crescent::faults
