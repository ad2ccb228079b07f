// Memory runs out while a model is saved (S08 of README.md in this folder). The test program
// replaces operator new to make allocations fail.
#include <cstdlib>
#include <new>

#include "report.h"
#include "savers.h"

namespace {

thread_local bool counts_allocations = false;
// Number of allocations before the one that fails; negative: all succeed.
thread_local int64_t allocations_left = -1;

void* allocate(size_t size) {
  if (counts_allocations && allocations_left >= 0 && allocations_left-- == 0)
    throw std::bad_alloc();
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t size) { return allocate(size); }
void* operator new[](size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace crescent::faults {
namespace {

/// Runs `work` while the n-th allocation of this thread fails; returns false if `work` makes fewer
/// allocations.
template <class Work>
bool run_with_failing_allocation(int64_t n, const Work& work) {
  counts_allocations = true, allocations_left = n;
  try {
    work();
  } catch (const std::exception&) {
  }
  counts_allocations = false;
  return allocations_left < 0;
}

TEST_CASE("S08: whichever allocation fails while saving, the file is whole and the model usable") {
  constexpr int kSamples = 500;
  const std::vector<Saver> all_savers = savers(20);
  int64_t failure_count = 0, saved_count = 0;
  for (const Saver& saver : all_savers) {
    CAPTURE(saver.name);
    const Folder folder;
    const std::string path = folder / ("m" + saver.ending);
    saver.save(path, 1);
    // Finds out roughly how many allocations a save makes; then some of them fail, each in a save
    // of its own.
    int64_t count = 1;
    while (run_with_failing_allocation(count, [&] { saver.save(path, 1); })) count *= 2;
    const int64_t step =
        std::max<int64_t>(1, count * static_cast<int64_t>(all_savers.size()) / kSamples);
    for (int64_t n = 0; n < count; n += step) {
      CAPTURE(n);
      if (!run_with_failing_allocation(n, [&] { saver.save(path, 2); })) break;
      const int generation = saver.load(path);
      CHECK((generation == 1 || generation == 2));
      CHECK(folder.count() == 1);
      ++failure_count, saved_count += generation == 2;
      saver.save(path, 1);
    }
  }
  report("S08 the n-th allocation fails while saving", failure_count,
         std::to_string(saved_count) + " saved, the others an error, 0 files lost");
}

}  // namespace
}  // namespace crescent::faults
