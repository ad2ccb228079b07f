#define CATCH_CONFIG_EXTERNAL_INTERFACES  // declares the base class of Catch2's listeners
#include "report.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <vector>

namespace crescent::faults {
namespace {

struct Row {
  std::string fault;
  int64_t times;
  std::string result;
};

std::vector<Row> rows;

struct Printer final : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override {
    for (const Row& row : rows)
      std::printf("fault: %-62s %6lld times: %s\n", row.fault.c_str(),
                  static_cast<long long>(row.times), row.result.c_str());
    std::fflush(stdout);
  }
};
CATCH_REGISTER_LISTENER(Printer)

}  // namespace

void report(const std::string& fault, int64_t times, const std::string& result) {
  rows.push_back({fault, times, result});
}

}  // namespace crescent::faults
