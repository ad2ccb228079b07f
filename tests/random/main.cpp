// Checks random programs, for a given time or number of them.
//   check_random_programs [--seconds S] [--seed N] [--count N] [--first] [--rows] [--apart]
// Seeds are consecutive numbers from N on; without --seed, N is drawn from the clock. Without
// --count and --seconds, the time is that of CRESCENT_RANDOM_PROGRAMS in seconds; without that, the
// run ends after 60000 programs, for which most machines need less time, or after 240 seconds.
// --rows prints how often each function was drawn. A program with wrong results is simplified and
// printed as a script, and the exit status is 1. With --first the first such program ends the run,
// and only its seed is printed. A crash prints the seed; with --apart each program is checked in a
// child process, so that a program that crashes is simplified as well.
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

#include "crescent/base/error.h"
#include "crescent/program/device.h"
#include "random/check.h"
#include "random/draft.h"
#include "random/shrinker.h"

using namespace crescent;
using namespace crescent::random_programs;

namespace {

/// The number of failures that are printed; further ones are only counted.
constexpr uint64_t kMaxReported = 5;

using Check = std::function<Outcome(const Recipe&, uint64_t)>;
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct CommandLine {
  double seconds = 0;            ///< time limit in seconds; 0: none
  uint64_t seed = 0, count = 0;  ///< seed 0: drawn from the clock; count 0: no limit
  bool prints_drawn_counts = false, uses_child_processes = false, has_seed = false,
       ends_at_first = false;

  bool is_finished(uint64_t checked_count, double elapsed_seconds) const {
    return (count > 0 && checked_count >= count) || (seconds > 0 && elapsed_seconds >= seconds);
  }
};

CommandLine read_command_line(int argc, char** argv) {
  CommandLine options;
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (std::strcmp(argv[i], "--rows") == 0) {
      options.prints_drawn_counts = true;
      continue;
    }
    if (std::strcmp(argv[i], "--first") == 0) {
      options.ends_at_first = true;
      continue;
    }
    if (std::strcmp(argv[i], "--apart") == 0) {
      options.uses_child_processes = true;
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
           "; known: --seconds S, --seed N, --count N, --first, --rows, --apart");
    ++i;
  }
  if (options.count == 0 && options.seconds == 0) {
    const char* seconds = std::getenv("CRESCENT_RANDOM_PROGRAMS");
    options.seconds = seconds ? std::atof(seconds) : 240;
    if (!seconds) options.count = 60000;
  }
  if (!options.has_seed)
    options.seed = static_cast<uint64_t>(
        std::chrono::system_clock::now().time_since_epoch().count() / 1'000'000);
  return options;
}

std::string read_all(int pipe) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipe, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  return text;
}

/// Does the same as check(), in a child process; if that process crashes, this is reported as a
/// difference.
Outcome check_in_child_process(const Recipe& recipe, uint64_t seed) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) fail("no pipe to another process");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) fail("no other process");
  if (child == 0) {
    const Outcome outcome = check(recipe, seed);
    std::string text(1, outcome.is_skipped ? 's' : outcome.difference ? 'd' : ' ');
    if (outcome.difference) text += outcome.difference->way + '\n' + outcome.difference->text;
    _exit(write(pipe_ends[1], text.data(), text.size()) < 0);
  }
  close(pipe_ends[1]);
  const std::string text = read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome;
  if (text.empty()) {
    outcome.difference = {"in a process of its own", concat("it ended with status ", status)};
  } else if (text[0] == 'd') {
    const size_t line_end = text.find('\n');
    outcome.difference = {text.substr(1, line_end - 1), text.substr(line_end + 1)};
  }
  outcome.is_skipped = text == "s";
  return outcome;
}

/// The seed that is being checked, for the message of a crash.
char seed_text[64];

void print_seed(int signal_number) {
  if (::write(STDOUT_FILENO, seed_text, std::strlen(seed_text)) < 0) _exit(2);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void print_seed_on_crashes() {
  for (int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    signal(signal_number, print_seed);
}

/// Simplifies the program and prints it.
void report(uint64_t seed, const Recipe& recipe, const Choices& choices,
            const Difference& difference, const Check& check) {
  constexpr double kSeconds = 30;
  std::printf("seed %llu differs, %s: %s\nagain: check_random_programs --seed %llu --count 1\n",
              static_cast<unsigned long long>(seed), difference.way.c_str(),
              difference.text.c_str(), static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const auto differs = [&](const std::vector<uint32_t>& candidate) {
    Choices replayed_choices(candidate);
    return check(draw_recipe(replayed_choices), seed).difference.has_value();
  };
  const ShrinkResult shrink_result = shrink(choices.recorded_choices(), differs, kSeconds);
  Choices smallest_choices(shrink_result.choices);
  const Recipe small_recipe = draw_recipe(smallest_choices);
  const Outcome outcome = check(small_recipe, seed);
  if (outcome.difference)
    std::printf(
        "-- made smaller in %d tries; %s: %s\n%s\n", shrink_result.try_count,
        outcome.difference->way.c_str(), outcome.difference->text.c_str(),
        to_lua(outcome.rewritten_recipe ? *outcome.rewritten_recipe : small_recipe).c_str());
  else
    std::printf("-- as it was drawn\n%s\n", to_lua(recipe).c_str());
  std::fflush(stdout);
}

int run(const CommandLine& options) {
  const Clock::time_point start = Clock::now();
  uint64_t checked_count = 0, skipped_count = 0, different_count = 0;
  std::map<std::string, uint64_t> drawn_counts;
  set_device("cpu", {{"threads", 1}});
  std::printf("seeds from %llu on\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  print_seed_on_crashes();
  const Check check_one = options.uses_child_processes ? Check(check_in_child_process)
                                                       : [](const Recipe& recipe, uint64_t seed) {
                                                           return check(recipe, seed);
                                                         };
  for (; !options.is_finished(checked_count, seconds_since(start)); ++checked_count) {
    const uint64_t seed = options.seed + checked_count;
    std::snprintf(seed_text, sizeof seed_text, "seed %llu ends the process\n",
                  static_cast<unsigned long long>(seed));
    Choices choices(seed);
    const Recipe recipe = draw_recipe(choices);
    if (options.prints_drawn_counts)
      for (const Node& node : recipe.nodes) ++drawn_counts[node.function];
    const Outcome outcome = check_one(recipe, seed);
    skipped_count += outcome.is_skipped;
    if (!outcome.difference) continue;
    ++different_count;
    if (options.ends_at_first) {
      std::printf("seed %llu differs, %s: %s\n", static_cast<unsigned long long>(seed),
                  outcome.difference->way.c_str(), outcome.difference->text.c_str());
      break;
    }
    if (different_count > kMaxReported) continue;
    report(seed, recipe, choices, *outcome.difference, check_one);
  }
  const double seconds = seconds_since(start);
  std::printf(
      "%llu programs from seed %llu on in %.1f s (%.0f a minute), of which float64 says nothing of "
      "%llu; %llu differ\n",
      static_cast<unsigned long long>(checked_count), static_cast<unsigned long long>(options.seed),
      seconds, static_cast<double>(checked_count) / seconds * 60,
      static_cast<unsigned long long>(skipped_count),
      static_cast<unsigned long long>(different_count));
  for (const auto& [function, count] : drawn_counts)
    std::printf("%8llu %s\n", static_cast<unsigned long long>(count), function.c_str());
  return different_count > 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Keeps freed memory in the process, because mapping new pages for each program would take half
  // of the time.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 1 << 26);
  try {
    return run(read_command_line(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
