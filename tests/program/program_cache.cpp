// The compiled programs of all functions are kept within one memory budget.
#include <catch2/catch.hpp>

#include "crescent/layer/layer.h"
#include "crescent/ops/ops.h"
#include "crescent/program/program.h"

using namespace crescent;

namespace {

/// Sets the memory budget, and restores it at the end of the test.
struct Budget {
  explicit Budget(size_t bytes) { set_program_cache(bytes); }
  ~Budget() { set_program_cache(previous_budget_); }
  size_t previous_budget_ = program_cache().budget;
};

Tensor ones(int64_t n) { return Tensor::full({n}, 1); }

/// A function that counts its traces.
struct Doubling {
  int trace_count = 0;
  Function f{[this](const Tensors& in) {
    ++trace_count;
    return Tensors{ops::exp(in[0]) * 0.0 + in[0] * 2.0};
  }};
  bool has_right_result(int64_t n) {
    return f({ones(n)})[0].to_vector() == std::vector<double>(static_cast<size_t>(n), 2);
  }
};

}  // namespace

TEST_CASE("any number of signatures stays within the budget, and each gives its results") {
  const Budget budget(512 << 10);
  Doubling doubling;
  for (int64_t n = 1; n <= 300; ++n) CHECK(doubling.has_right_result(n));
  CHECK(doubling.trace_count == 300);
  const ProgramCache cache = program_cache();
  CHECK(cache.bytes <= cache.budget);
  CHECK(doubling.f.signatures() < 250);
  CHECK(doubling.f.signatures() > 16);
  CHECK(doubling.has_right_result(1));
  CHECK(doubling.trace_count == 301);
}

TEST_CASE("those go first that were not used for longest") {
  const Budget budget(512 << 10);
  clear_session();
  Doubling often_used, seldom_used;
  CHECK(seldom_used.has_right_result(1));
  for (int64_t n = 2; n <= 300; ++n) {
    CHECK(often_used.has_right_result(1));
    CHECK(often_used.has_right_result(n));
  }
  // One trace for each of the 300 sizes: the program for one element was used often, so it was
  // never dropped.
  CHECK(often_used.trace_count == 300);
  CHECK(seldom_used.has_right_result(1));
  CHECK(seldom_used.trace_count == 2);
}

TEST_CASE("a budget of nothing keeps what is in use") {
  const Budget budget(0);
  Doubling doubling;
  for (int i = 0; i < 3; ++i) {
    for (int64_t n = 1; n <= 5; ++n) CHECK(doubling.has_right_result(n));
  }
  CHECK(doubling.trace_count == 5);
  for (int64_t n = 1; n <= 50; ++n) CHECK(doubling.has_right_result(n));
  CHECK(program_cache().programs <= 17);
}

TEST_CASE("what somebody runs outlives its place in the cache") {
  Doubling doubling;
  const Tensor x = ones(4);
  const auto executable = doubling.f.executable(std::span(&x, 1));
  clear_session();
  CHECK(doubling.f.signatures() == 0);
  Tensor y(Shape{4}, DType::float32);
  executable->run(std::span(&x, 1), {}, std::span(&y, 1));
  CHECK(y.to_vector() == std::vector<double>(4, 2));
}

TEST_CASE("ops that run at once are in the same cache, and clear_session empties it") {
  clear_session();
  CHECK(program_cache().programs == 0);
  CHECK(program_cache().bytes == 0);
  const Tensor y = ops::tanh(ones(123));
  CHECK(program_cache().programs >= 1);
  const size_t program_count = program_cache().programs;
  ops::tanh(y);
  CHECK(program_cache().programs == program_count);
  {
    Doubling doubling;
    CHECK(doubling.has_right_result(7));
    CHECK(program_cache().programs > program_count);
  }
  CHECK(program_cache().bytes > 0);
  clear_session();
  CHECK(program_cache().programs == 0);
  CHECK(program_cache().bytes == 0);
}

TEST_CASE("an op whose options hold a NaN is found again, and -0 is another than 0") {
  clear_session();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto padded = [](double value) { return ops::pad(ones(3), {1}, {1}, value).to_vector(); };
  padded(nan);
  const size_t program_count = program_cache().programs;
  for (int i = 0; i < 3; ++i) CHECK(std::isnan(padded(nan)[0]));
  CHECK(program_cache().programs == program_count);
  CHECK_FALSE(std::signbit(padded(0.0)[0]));
  CHECK(std::signbit(padded(-0.0)[0]));
}

TEST_CASE("results keep memory for the signature of now only") {
  constexpr int64_t kElements = 1 << 20;
  const Function f([](const Tensors& in) { return Tensors{in[0] + 1.0, in[0] * 2.0}; });
  f({ones(kElements)});
  const int64_t old_bytes = allocated_bytes();
  for (int64_t n = 1; n <= 20; ++n) f({ones(kElements - n)});
  // Each of the 20 calls made two results of about 4 * kElements bytes, whose memory was freed.
  CHECK(allocated_bytes() < old_bytes + kElements);
}
