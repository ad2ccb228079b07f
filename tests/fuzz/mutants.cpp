// Mutated copies of real files are loaded through the public interface. Each must give a model or
// an error, and the process must survive (F14 of tests/faults/README.md).
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

#include "crescent/crescent.h"
#include "mutation.h"

namespace crescent::fuzz {
namespace {

namespace fs = std::filesystem;

bool can_load(const std::string& path) {
  try {
    load_model(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Paths of small model files in the folder of golden files.
std::vector<fs::path> seed_files() {
  constexpr uintmax_t kMaxFileBytes = 64 << 10;
  const char* folder = std::getenv("CRESCENT_GOLDEN");
  REQUIRE(folder);
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_model =
        (name.ends_with(".h5") && name.find(".io.") == name.npos) || name.ends_with(".keras");
    if (is_model && entry.file_size() <= kMaxFileBytes && can_load(entry.path().string()))
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A mutated file on the disk; if the process dies while loading it, the file stays there.
struct Mutant {
  explicit Mutant(const std::string& ending)
      : path(fs::temp_directory_path() / concat("crescent-mutant-", getpid(), ending)) {}
  ~Mutant() { fs::remove(path); }
  void write(const std::string& bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  const fs::path path;
};

/// The processor time of this process in seconds, which does not depend on other processes.
double seconds_used() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct LoadCounts {
  int loaded_count = 0, refused_count = 0, dead_reader_count = 0;
  double slowest_seconds = 0;
  void load(const std::string& path) {
    constexpr double kTimeout = 5;
    const double start = seconds_used();
    try_to_load(path);
    const double seconds = seconds_used() - start;
    CHECK(seconds < kTimeout);
    slowest_seconds = std::max(slowest_seconds, seconds);
  }

 private:
  void try_to_load(const std::string& path) {
    try {
      load_model(path);
      ++loaded_count;
    } catch (const Error& error) {
      const std::string message = error.what();
      ++(message.find("damaged or hostile") == message.npos ? refused_count : dead_reader_count);
    }
  }
};

TEST_CASE("F14: changed copies of golden files never end the process that loads them") {
  using Clock = std::chrono::steady_clock;
  const char* count_text = std::getenv("CRESCENT_FUZZ");
  const int max_count = count_text ? std::atoi(count_text) : 20'000;
  const auto end_time =
      count_text ? Clock::time_point::max() : Clock::now() + std::chrono::seconds(100);
  const char* seed = std::getenv("CRESCENT_FUZZ_SEED");
  set_warning_handler([](std::string_view) {});
  const std::vector<fs::path> golden_files = seed_files();
  REQUIRE(golden_files.size() > 0);
  Mutation mutation(seed ? static_cast<unsigned>(std::atoi(seed)) : 1);
  LoadCounts load_counts;
  int count = 0;
  for (; count < max_count && Clock::now() < end_time; ++count) {
    const fs::path& file = golden_files[static_cast<size_t>(count) % golden_files.size()];
    const std::string name = file.filename().string();
    const Mutant mutant(name.substr(name.find('.')));
    std::string bytes = bytes_of(file);
    mutation.apply(bytes);
    mutant.write(bytes);
    CAPTURE(file, count);
    load_counts.load(mutant.path.string());
  }
  set_warning_handler(nullptr);
  std::printf(
      "fault: F14 changed copies of %zu golden files %d times: %d loaded, %d refused, "
      "%d ended the reader process, 0 this one; the slowest took %.2f s\n",
      golden_files.size(), count, load_counts.loaded_count, load_counts.refused_count,
      load_counts.dead_reader_count, load_counts.slowest_seconds);
  CHECK(load_counts.loaded_count + load_counts.refused_count + load_counts.dead_reader_count ==
        count);
}

}  // namespace
}  // namespace crescent::fuzz
