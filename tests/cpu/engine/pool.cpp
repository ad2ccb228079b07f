#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "threads/lockstep.h"
#include "threads/pool.h"

using crescent::cpu::lockstep;
namespace cpu = crescent::cpu;

TEST_CASE("every part of a region runs once, for any number of threads") {
  for (int threads : {1, 2, 3, 7}) {
    cpu::Pool pool(threads);
    for (int64_t part_count : {0, 1, 2, 5, 64, 1000}) {
      std::vector<std::atomic<int>> visit_counts(static_cast<size_t>(part_count));
      std::atomic<bool> worker_in_range{true};
      pool.parallel(part_count, [&](int64_t part_index, int worker) {
        visit_counts[static_cast<size_t>(part_index)]++;
        if (worker < 0 || worker >= threads) worker_in_range = false;
      });
      for (auto& count : visit_counts) REQUIRE(count == 1);
      REQUIRE(worker_in_range);
    }
  }
}

TEST_CASE("many short regions follow one another, with pauses in which the workers fall asleep") {
  cpu::Pool pool(3);
  std::vector<int64_t> sums(8);
  for (int round = 0; round < 20000; ++round) {
    pool.parallel(
        8, [&](int64_t part_index, int) { sums[static_cast<size_t>(part_index)] += part_index; });
    if (round % 5000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (int64_t part_index = 0; part_index < 8; ++part_index)
    REQUIRE(sums[static_cast<size_t>(part_index)] == 20000 * part_index);
}

TEST_CASE("blocks cover the range without overlap") {
  cpu::Pool pool(2);
  for (int64_t n : {0, 1, 99, 100, 101, 1234}) {
    std::vector<std::atomic<int>> visit_counts(static_cast<size_t>(n));
    pool.blocks(n, 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) visit_counts[static_cast<size_t>(i)]++;
    });
    for (auto& count : visit_counts) REQUIRE(count == 1);
  }
}

TEST_CASE("a region inside a region runs in its caller") {
  cpu::Pool pool(2);
  std::atomic<int> count{0};
  pool.parallel(4, [&](int64_t, int) { pool.parallel(4, [&](int64_t, int) { count++; }); });
  REQUIRE(count == 16);
}

TEST_CASE("several callers share a pool") {
  cpu::Pool pool(3);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round)
        pool.parallel(16, [&](int64_t part_index, int) { total += part_index; });
    });
  }
  for (auto& caller : callers) caller.join();
  REQUIRE(total == 4 * 500 * 120);
}

namespace {

/// Waits long enough for sleeping workers to start taking part.
void wait_for_workers() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

}  // namespace

TEST_CASE("no more workers take part than were asked for") {
  cpu::Pool pool(4);
  for (int max_threads : {1, 2, 3, 9}) {
    std::atomic<int> count{0}, beyond{0};
    pool.parallel(
        100,
        [&](int64_t, int worker) {
          wait_for_workers();
          ++count;
          beyond += worker >= max_threads;
        },
        max_threads);
    CHECK(count == 100);
    CHECK(beyond == 0);
  }
}

TEST_CASE("a pool that another thread resizes keeps to the workers that were counted before") {
  cpu::Pool pool(2);
  for (int threads : {4, 1, 3, 2}) {
    const int workers = pool.threads();
    std::atomic<bool> has_begun{false};
    std::thread resizer([&] {
      pool.resize(threads);
      while (!has_begun) std::this_thread::yield();
      pool.resize(threads + 1);  // this call waits until the parallel region has ended
    });
    while (pool.threads() != threads) std::this_thread::yield();
    std::atomic<int> count{0}, beyond{0};
    pool.parallel(
        50,
        [&](int64_t, int worker) {
          has_begun = true;
          wait_for_workers();
          ++count;
          beyond += worker >= workers;
        },
        workers);
    resizer.join();
    CHECK(count == 50);
    CHECK(beyond == 0);
  }
}

TEST_CASE("an exception in a part reaches the caller and the pool lives on") {
  cpu::Pool pool(2);
  for (int round = 0; round < 50; ++round) {
    REQUIRE_THROWS_AS(pool.parallel(10,
                                    [](int64_t part_index, int) {
                                      if (part_index == 3) throw std::runtime_error("three");
                                    }),
                      std::runtime_error);
  }
  std::atomic<int> count{0};
  pool.parallel(10, [&](int64_t, int) { count++; });
  REQUIRE(count == 10);
}

TEST_CASE("the number of threads changes between regions") {
  cpu::Pool pool(1);
  for (int threads : {3, 1, 2, 4, 1}) {
    pool.resize(threads);
    REQUIRE(pool.threads() == threads);
    std::atomic<int> count{0};
    for (int round = 0; round < 100; ++round) pool.parallel(10, [&](int64_t, int) { count++; });
    REQUIRE(count == 1000);
  }
}

TEST_CASE("a busy neighbour slows a region down, not more") {
  std::atomic<bool> is_stopped{false};
  std::vector<std::thread> busy_threads;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
    busy_threads.emplace_back([&] {
      while (!is_stopped) {
      }
    });
  }
  cpu::Pool pool(2);
  auto begin = std::chrono::steady_clock::now();
  std::atomic<int> count{0};
  for (int round = 0; round < 200; ++round) pool.parallel(4, [&](int64_t, int) { count++; });
  auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  is_stopped = true;
  for (auto& busy_thread : busy_threads) busy_thread.join();
  REQUIRE(count == 800);
  REQUIRE(seconds < 30);
}

TEST_CASE("a step in lockstep sees all of the step before, whenever threads join") {
  cpu::Pool pool(3);
  constexpr int64_t kSteps = 300, kCount = 7;
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> even_values(kCount), odd_values(kCount, 1);
    if (round % 20 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // lets the workers fall asleep
    lockstep(pool, kSteps, kCount, round % 5, [&](int64_t step, int64_t first, int64_t last) {
      auto &source = step % 2 ? even_values : odd_values,
           &target = step % 2 ? odd_values : even_values;
      for (int64_t i = first; i < last; ++i)
        target[static_cast<size_t>(i)] = source[static_cast<size_t>(kCount - 1 - i)] + 1;
    });
    for (int64_t value : odd_values) REQUIRE(value == kSteps + 1);
  }
  lockstep(pool, 0, kCount, 3, [](int64_t, int64_t, int64_t) { FAIL("there is no step"); });
}
