#include "worker.h"

#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace crescent::faults {
namespace {

std::string variable_name(int i) { return "CRESCENT_WORKER_" + std::to_string(i); }

Process start_process(const std::string& test, const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    setenv(variable_name(static_cast<int>(i)).c_str(), arguments[i].c_str(), 1);
  constexpr int kNowhere = ProcessOptions::kNowhere;
  return Process::program({"/proc/self/exe", test},
                          {.descriptors = {{kNowhere, STDOUT_FILENO}, {kNowhere, STDERR_FILENO}}});
}

}  // namespace

std::string worker_argument(int i) {
  const char* value = getenv(variable_name(i).c_str());
  REQUIRE(value);
  return value;
}

Worker::Worker(const std::string& test, const std::vector<std::string>& arguments)
    : Process(start_process(test, arguments)) {}

}  // namespace crescent::faults
