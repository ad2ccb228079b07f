// Profiles of how the work of an instruction is split into parts.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "crescent/ops/ops.h"
#include "crescent/program/program.h"
#include "support.h"
#include "threads/lockstep.h"
#include "threads/pool.h"
#include "threads/work_trace.h"

namespace crescent::cpu::test {
using std::chrono::milliseconds;

TEST_CASE("a trace tells what more cores would take, whoever is free taking the next part") {
  WorkTrace trace;
  {
    const WorkTrace::Recording recording(trace);
    trace.begin_region(4);
    for (int64_t part : {0, 1, 2, 3})
      trace.set_part_time(part, milliseconds(part == 1 ? 4000 : 2000));
    trace.end_region();
  }
  CHECK(trace.parts() == 4);
  CHECK(trace.largest_part() == Approx(0.4));
  CHECK(trace.seconds_on(1) == Approx(10).margin(0.5));  // includes the time between begin and end
  CHECK(trace.seconds_on(2) == Approx(6).margin(0.5));
  CHECK(trace.seconds_on(16) == Approx(4).margin(0.5));
}

TEST_CASE("of several runs the shortest time of each part counts") {
  WorkTrace trace;
  for (int64_t run : {0, 1}) {
    const WorkTrace::Recording recording(trace);
    trace.begin_region(2);
    for (int64_t part : {0, 1}) trace.set_part_time(part, milliseconds(part == run ? 1000 : 5000));
    trace.end_region();
  }
  CHECK(trace.seconds_on(1) == Approx(2).margin(0.5));
}

TEST_CASE("a trace knows the parts of the pool's regions, and the work outside of them") {
  for (int threads : {1, 3}) {
    CAPTURE(threads);
    Pool pool(threads);
    WorkTrace trace;
    {
      const WorkTrace::Recording recording(trace);
      pool.parallel(5, [](int64_t, int) { std::this_thread::sleep_for(milliseconds(10)); });
      std::this_thread::sleep_for(milliseconds(10));
    }
    CHECK(trace.parts() == 5);
    CHECK(trace.largest_part() < 1);
    CHECK(trace.seconds_on(1) >= 0.06);
    CHECK(trace.seconds_on(5) >= 0.02);
    CHECK(trace.seconds_on(5) < trace.seconds_on(1));
  }
}

TEST_CASE("a region in a region is work of its part, and none of a thread that is not traced") {
  Pool pool(2);
  WorkTrace trace;
  {
    const WorkTrace::Recording recording(trace);
    pool.parallel(2, [&](int64_t, int) { pool.parallel(5, [](int64_t, int) {}); });
    std::thread([&] { pool.parallel(7, [](int64_t, int) {}); }).join();
  }
  pool.parallel(9, [](int64_t, int) {});
  CHECK(trace.parts() == 2);
}

TEST_CASE("steps in lockstep are shared by as many threads as they repay") {
  for (int threads : {1, 2}) {
    CAPTURE(threads);
    Pool pool(threads);
    WorkTrace trace;
    {
      const WorkTrace::Recording recording(trace);
      lockstep(pool, 5, 6, 3, [](int64_t, int64_t first, int64_t last) {
        std::this_thread::sleep_for(milliseconds(last - first));
      });
    }
    CHECK(trace.parts() == 6);
    CHECK(trace.seconds_on(1) / trace.seconds_on(32) == Approx(3).margin(0.3));
  }
}

TEST_CASE("rows of a profile tell the cut of the work") {
  const std::vector<TensorSpec> specs(2, TensorSpec{DType::float32, {512, 512}});
  const Program program =
      optimize(trace([](const Tensors& in) { return Tensors{ops::matmul(in[0], in[1])}; }, specs));
  auto executable = test_device().compile(program);
  const Tensors in{sines({512, 512}, 0), sines({512, 512}, 1)};
  Tensors out{Tensor::full({512, 512}, 0)};
  executable->profile(true);
  for (int run = 0; run < 3; ++run) executable->run(in, {}, out);
  executable->profile(false);
  const ProfileEntry row = executable->rows().at(0);
  CHECK(row.parts > 1);
  CHECK(row.largest_part < 1);
  CHECK(row.seconds_on[0] > 0);
  for (size_t c = 1; c < kProfiledCores.size(); ++c)
    CHECK(row.seconds_on[c] <= row.seconds_on[c - 1]);
}

}  // namespace crescent::cpu::test
