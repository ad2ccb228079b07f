// The memory of a process that runs a model on many shapes, compared with a process that only runs
// the largest shape.
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

/// The peak memory in MB for shapes `first` to `last`.
double peak_of(const std::string& kind, int first, int last) {
  const std::string command =
      std::string("'" CRESCENT_PROGRAM "' '" CRESCENT_SOURCE_DIR "/tests/limits/shapes.lua' ") +
      kind + " " + std::to_string(first) + " " + std::to_string(last);
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 200> line{};
  double kilobytes = 0;
  while (std::fgets(line.data(), line.size(), pipe))
    std::sscanf(line.data(), "peak %lf", &kilobytes);
  REQUIRE(pclose(pipe) == 0);
  REQUIRE(kilobytes > 0);
  return kilobytes / 1024;
}

void compare(const std::string& kind, int last) {
  const double peak_of_largest = peak_of(kind, last, last), peak_of_all = peak_of(kind, 1, last);
  WARN(kind << ": " << peak_of_all << " MB for 1 to " << last << ", " << peak_of_largest
            << " MB for the last");
  CHECK(peak_of_all < 2 * peak_of_largest);
}

}  // namespace

TEST_CASE("Sequences of many lengths cost less than twice the longest") { compare("lengths", 150); }

TEST_CASE("Batches of many sizes cost less than twice the largest") { compare("batches", 100); }
