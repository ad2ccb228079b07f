#include "elementwise.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

TEST_CASE("remainders of floats are exact, and powers that are products are that") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64}) {
    for (double range : {3.0, 1e4, 1e12}) {
      Array a = random({1013}, dtype, 1, -range, range), b = random({1013}, dtype, 2, -3, 3);
      a.values[0] = 0, a.values[1] = INFINITY, a.values[2] = 6, b.values[2] = -3, b.values[3] = 0;
      a.values[4] = NAN, b.values[5] = INFINITY;
      Array want = zeros({1013}, dtype);
      for (size_t i = 0; i < want.values.size(); ++i) {
        const double r = std::fmod(a.values[i], b.values[i]);
        const bool has_other_sign = r != 0 && (r < 0) != (b.values[i] < 0);
        const double sum = r + b.values[i];
        want.values[i] = !has_other_sign           ? r
                         : dtype == DType::float32 ? static_cast<float>(sum)
                                                   : sum;
      }
      Outcome got = run(*make(binary(BinaryKind::mod), {a.spec, b.spec}, {want.spec}), {a, b},
                        {want.spec}, 1);
      for (size_t i = 0; i < want.values.size(); ++i) {
        const double value = got.outputs[0].values[i];
        CAPTURE(to_text(dtype), i, a.values[i], b.values[i], value, want.values[i]);
        CHECK((value == want.values[i] || (std::isnan(value) && std::isnan(want.values[i]))));
      }
    }
    for (double exponent : {2.0, 3.0, -1.0, -2.0, -3.0, 2.5, -0.3, 0.0, 20.0}) {
      Array a = random({1013}, dtype, 1, 0.1, 9), b = zeros({}, dtype), want = zeros({1013}, dtype);
      b.values[0] = exponent;
      for (size_t i = 0; i < want.values.size(); ++i)
        want.values[i] = std::pow(a.values[i], exponent);
      check(elementwise_kernels, binary(BinaryKind::power), {a, b}, {want});
    }
  }
}

TEST_CASE("powers are right to the last places, and at the edges as C's") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  Array a = random({4099}, DType::float32, 1, 0, 20), b = random({4099}, DType::float32, 2, -9, 9);
  for (size_t i = 1000; i < 2000; ++i) a.values[i] = std::ldexp(a.values[i], int(i % 200) - 140);
  const std::vector<double> special_values = {0,     -0.0, 1,    -1, 2,    -3,       0.5,      3e38,
                                              1e-45, NAN,  40.5, -7, 1e-3, INFINITY, -INFINITY};
  for (size_t i = 0; i < special_values.size() * special_values.size(); ++i) {
    a.values[2500 + i] = static_cast<float>(special_values[i % special_values.size()]);
    b.values[2500 + i] = static_cast<float>(special_values[i / special_values.size()]);
  }
  const auto float_of = [](double x) { return static_cast<float>(x); };
  std::transform(a.values.begin(), a.values.end(), a.values.begin(), float_of);
  std::transform(b.values.begin(), b.values.end(), b.values.begin(), float_of);
  const Outcome got =
      run(*make(binary(BinaryKind::power), {a.spec, b.spec}, {a.spec}), {a, b}, {a.spec}, 1);
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double value = got.outputs[0].values[i];
    const double want = float_of(std::pow(a.values[i], b.values[i]));
    const double unit_in_last_place = std::max(std::abs(want) * 0x1p-23, 0x1p-149);
    CAPTURE(i, a.values[i], b.values[i], value, want);
    CHECK((value == want || std::abs(value - want) <= unit_in_last_place ||
           (std::isnan(value) && std::isnan(want))));
  }
}

TEST_CASE("quotients of integers are floored, and remainders have the divisor's sign") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const std::vector<double> special_values = {0, 1, -1, 2, -2, 7, -7, 46341, INT32_MAX, INT32_MIN};
  Array a = random({301}, DType::int32, 1, -1e9, 1e9), b = random({301}, DType::int32, 2, -99, 99);
  for (size_t i = 0; i < special_values.size() * special_values.size(); ++i)
    a.values[i] = special_values[i % special_values.size()],
    b.values[i] = special_values[i / special_values.size()];
  Array quotients = zeros({301}, DType::int32), remainders = quotients;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const auto x = static_cast<int64_t>(a.values[i]), y = static_cast<int64_t>(b.values[i]);
    if (y == 0) continue;
    const int64_t remainder = (x % y + y) % y, quotient = (x - remainder) / y;
    remainders.values[i] = static_cast<double>(remainder);
    quotients.values[i] = static_cast<double>(static_cast<int32_t>(quotient));
  }
  check(elementwise_kernels, binary(BinaryKind::floor_divide), {a, b}, {quotients});
  check(elementwise_kernels, binary(BinaryKind::mod), {a, b}, {remainders});
}

TEST_CASE("quotients of floats are floored as if division were exact") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  Array a = random({1003}, DType::float32, 1, -50, 50),
        b = random({1003}, DType::float32, 2, -3, 3);
  // Every second element of a is a multiple of b, rounded to float32. Its rounded quotient is a
  // whole number, even if the exact quotient is slightly smaller.
  for (size_t i = 0; i < a.values.size(); i += 2) {
    const auto divisor = static_cast<float>(b.values[i]);
    a.values[i] = static_cast<float>(static_cast<double>(i % 17) * divisor);
  }
  a.values[1] = 1, b.values[1] = 0.1f;
  a.values[3] = 0.3f, b.values[3] = 0.1f;
  Array want = zeros({1003}, DType::float32);
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double expected_remainder = std::fmod(a.values[i], b.values[i]);
    want.values[i] =
        std::round((a.values[i] - expected_remainder) / b.values[i]) -
        (expected_remainder != 0 && (expected_remainder < 0) != (b.values[i] < 0) ? 1 : 0);
  }
  CHECK(want.values[1] == 9);
  check(elementwise_kernels, binary(BinaryKind::floor_divide), {a, b}, {want});
}

TEST_CASE("integer division by zero and overflow do not crash") {
  for (BinaryKind kind : {BinaryKind::floor_divide, BinaryKind::mod, BinaryKind::divide}) {
    TensorSpec spec{DType::int32, {3}};
    int32_t a[3] = {5, INT32_MIN, -7}, b[3] = {0, -1, 2}, y[3];
    const std::byte* in[] = {reinterpret_cast<std::byte*>(a), reinterpret_cast<std::byte*>(b)};
    std::byte* out[] = {reinterpret_cast<std::byte*>(y)};
    cpu::Pool pool(1);
    auto kernel = make(binary(kind), {spec, spec}, {spec});
    kernel->run({in, out, nullptr, pool});
    CHECK(y[0] == 0);
  }
  int32_t quotient = -7 / 2;
  CHECK(quotient == -3);  // the quotient is rounded down, while integer division of C++ truncates
  Array a = zeros({2}, DType::int32), b = a, want = a;
  a.values = {-7, 7}, b.values = {2, -2}, want.values = {-4, -4};
  check(elementwise_kernels, binary(BinaryKind::floor_divide), {a, b}, {want});
  want.values = {1, -1};
  check(elementwise_kernels, binary(BinaryKind::mod), {a, b}, {want});
}
