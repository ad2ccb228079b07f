// The time and the memory of `crescent -e ''`, as measured by the system.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

namespace {

struct Usage {
  double milliseconds;
  double megabytes;
};

Usage run_once() {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execl(CRESCENT_PROGRAM, "crescent", "-e", "", nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  REQUIRE(status == 0);
  const std::chrono::duration<double, std::milli> duration =
      std::chrono::steady_clock::now() - start;
  return {duration.count(), usage.ru_maxrss / 1024.0};
}

}  // namespace

TEST_CASE("The program starts in 50 ms and under 60 MB") {
  Usage best = run_once();
  for (int i = 0; i < 9; ++i) {
    const Usage usage = run_once();
    best = {std::min(best.milliseconds, usage.milliseconds),
            std::min(best.megabytes, usage.megabytes)};
  }
  WARN("crescent -e '': " << best.milliseconds << " ms, " << best.megabytes << " MB");
  CHECK(best.milliseconds <= 50);
  CHECK(best.megabytes < 60);
}
