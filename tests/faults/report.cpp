#define CATCH_CONFIG_EXTERNAL_INTERFACES  // declares the base class of Catch2's listeners
#include "report.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <vector>

namespace crescent::faults {
namespace {

struct FaultResult {
  std::string fault;
  int64_t injection_count;
  std::string result;
};

std::vector<FaultResult> results;

struct Printer final : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override {
    for (const FaultResult& result : results)
      std::printf("fault: %-62s %6lld times: %s\n", result.fault.c_str(),
                  static_cast<long long>(result.injection_count), result.result.c_str());
    std::fflush(stdout);
  }
};
CATCH_REGISTER_LISTENER(Printer)

}  // namespace

void report(const std::string& fault, int64_t injection_count, const std::string& result) {
  results.push_back({fault, injection_count, result});
}

}  // namespace crescent::faults
