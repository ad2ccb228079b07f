// Random programs, checked for as long as one likes.
//   check_random_programs [--seconds S] [--seed N] [--count N] [--first] [--rows]
// Seeds follow each other from N on; without one it is drawn from the clock. Without a count or
// seconds there are as many seconds as CRESCENT_RANDOM_PROGRAMS says, or 60. --rows tells how
// often each function was drawn. What differs is made smaller and printed as a script; the exit
// status is 1 then. With --first the first that differs ends it, and is named only.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "crescent/device.h"
#include "crescent/error.h"
#include "random/check.h"
#include "random/draft.h"
#include "random/shrinker.h"

using namespace crescent;
using namespace crescent::random_programs;

namespace {

constexpr uint64_t kMostReported = 5;  ///< of those that differ; others are counted

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Options {
  double seconds = 0;            ///< 0: any
  uint64_t seed = 0, count = 0;  ///< 0: any
  bool rows = false, has_seed = false, first = false;

  bool is_over(uint64_t programs, double passed) const {
    return (count > 0 && programs >= count) || (seconds > 0 && passed >= seconds);
  }
};

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (std::strcmp(argv[i], "--rows") == 0) {
      options.rows = true;
      continue;
    }
    if (std::strcmp(argv[i], "--first") == 0) {
      options.first = true;
      continue;
    }
    if (!value) fail("expected a number after ", argv[i]);
    if (std::strcmp(argv[i], "--seconds") == 0)
      options.seconds = std::atof(value);
    else if (std::strcmp(argv[i], "--count") == 0)
      options.count = std::strtoull(value, nullptr, 10);
    else if (std::strcmp(argv[i], "--seed") == 0)
      options.seed = std::strtoull(value, nullptr, 10), options.has_seed = true;
    else
      fail("unknown option ", argv[i],
           "; known: --seconds S, --seed N, --count N, --first, --rows");
    ++i;
  }
  if (options.count == 0 && options.seconds == 0) {
    const char* seconds = std::getenv("CRESCENT_RANDOM_PROGRAMS");
    options.seconds = seconds ? std::atof(seconds) : 60;
  }
  if (!options.has_seed)
    options.seed = static_cast<uint64_t>(
        std::chrono::system_clock::now().time_since_epoch().count() / 1'000'000);
  return options;
}

/// Makes the program smaller and prints it.
void report(uint64_t seed, const Recipe& recipe, const Choices& choices, const Difference& found) {
  constexpr double kSeconds = 30;
  std::printf("seed %llu differs, %s: %s\nagain: check_random_programs --seed %llu --count 1\n",
              static_cast<unsigned long long>(seed), found.way.c_str(), found.text.c_str(),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const auto differs = [&](const std::vector<uint32_t>& candidate) {
    return check(candidate, seed).difference.has_value();
  };
  const Shrunk shrunk = shrink(choices.made(), differs, kSeconds);
  Choices smallest(shrunk.choices);
  const Recipe small = draw_recipe(smallest);
  const Outcome outcome = check(small, seed);
  if (outcome.difference)
    std::printf("-- made smaller in %d tries; %s: %s\n%s\n", shrunk.tried,
                outcome.difference->way.c_str(), outcome.difference->text.c_str(),
                to_lua(small).c_str());
  else
    std::printf("-- as it was drawn\n%s\n", to_lua(recipe).c_str());
  std::fflush(stdout);
}

int run(const Options& options) {
  const Clock::time_point start = Clock::now();
  uint64_t programs = 0, skipped = 0, different = 0;
  std::map<std::string, uint64_t> drawn;
  set_device("cpu", {{"threads", 1}});
  std::printf("seeds from %llu on\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  for (; !options.is_over(programs, seconds_since(start)); ++programs) {
    const uint64_t seed = options.seed + programs;
    Choices choices(seed);
    const Recipe recipe = draw_recipe(choices);
    if (options.rows)
      for (const Node& node : recipe.nodes) ++drawn[node.function];
    const Outcome outcome = check(recipe, seed);
    skipped += outcome.skipped;
    if (!outcome.difference) continue;
    ++different;
    if (options.first) {
      std::printf("seed %llu differs, %s: %s\n", static_cast<unsigned long long>(seed),
                  outcome.difference->way.c_str(), outcome.difference->text.c_str());
      break;
    }
    if (different > kMostReported) continue;
    report(seed, recipe, choices, *outcome.difference);
  }
  const double seconds = seconds_since(start);
  std::printf(
      "%llu programs from seed %llu on in %.1f s (%.0f a minute), of which float64 says nothing of "
      "%llu; %llu differ\n",
      static_cast<unsigned long long>(programs), static_cast<unsigned long long>(options.seed),
      seconds, static_cast<double>(programs) / seconds * 60,
      static_cast<unsigned long long>(skipped), static_cast<unsigned long long>(different));
  for (const auto& [function, count] : drawn)
    std::printf("%8llu %s\n", static_cast<unsigned long long>(count), function.c_str());
  return different > 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(read(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
