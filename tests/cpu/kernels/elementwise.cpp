#include <limits>

#include "elementwise.h"
#include "elementwise/scalars.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double exact_value(UnaryKind kind, double x) {
  using K = UnaryKind;
  switch (kind) {
    case K::negative:
      return -x;
    case K::abs:
      return std::abs(x);
    case K::sign:
      return std::isnan(x) ? x : (x > 0) - (x < 0);
    case K::square:
      return x * x;
    case K::sqrt:
      return std::sqrt(x);
    case K::rsqrt:
      return 1 / std::sqrt(x);
    case K::reciprocal:
      return 1 / x;
    case K::exp:
      return std::exp(x);
    case K::expm1:
      return std::expm1(x);
    case K::log:
      return std::log(x);
    case K::log1p:
      return std::log1p(x);
    case K::sin:
      return std::sin(x);
    case K::cos:
      return std::cos(x);
    case K::tan:
      return std::tan(x);
    case K::arcsin:
      return std::asin(x);
    case K::arccos:
      return std::acos(x);
    case K::arctan:
      return std::atan(x);
    case K::sinh:
      return std::sinh(x);
    case K::cosh:
      return std::cosh(x);
    case K::tanh:
      return std::tanh(x);
    case K::sigmoid:
      return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
    case K::relu:
      return x < 0 ? 0 : x;
    case K::softplus:
      return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case K::erf:
      return std::erf(x);
    case K::floor:
      return std::floor(x);
    case K::ceil:
      return std::ceil(x);
    case K::round:
      return std::nearbyint(x);
    case K::logical_not:
      return x == 0;
    case K::isnan:
      return std::isnan(x);
    case K::isfinite:
      return std::isfinite(x);
  }
  return 0;
}

double exact_value(BinaryKind kind, double a, double b) {
  using K = BinaryKind;
  switch (kind) {
    case K::add:
      return a + b;
    case K::subtract:
      return a - b;
    case K::multiply:
      return a * b;
    case K::divide:
      return a / b;
    case K::power:
      return std::pow(a, b);
    case K::maximum:
      return std::max(a, b);
    case K::minimum:
      return std::min(a, b);
    case K::floor_divide:
      return std::floor(a / b);
    case K::mod:
      return a - b * std::floor(a / b);
    case K::arctan2:
      return std::atan2(a, b);
    case K::equal:
      return a == b;
    case K::not_equal:
      return a != b;
    case K::less:
      return a < b;
    case K::less_equal:
      return a <= b;
    case K::greater:
      return a > b;
    case K::greater_equal:
      return a >= b;
    case K::logical_and:
      return a != 0 && b != 0;
    case K::logical_or:
      return a != 0 || b != 0;
  }
  return 0;
}

/// The largest error relative to each value, or to `floor` if that is larger.
double relative_error(const Array& got, const Array& want, double floor) {
  double largest_error = 0;
  for (size_t i = 0; i < want.values.size(); ++i) {
    const double g = got.values[i], w = want.values[i];
    const double difference = absolute_difference(g, w);
    largest_error = std::max(largest_error, std::isfinite(difference) && difference > 0
                                                ? difference / std::max(std::abs(w), floor)
                                                : difference);
  }
  return largest_error;
}

DType result_of(BinaryKind kind, DType dtype) {
  return kind >= BinaryKind::equal ? DType::boolean : dtype;
}

}  // namespace

TEST_CASE("unary functions agree with double over their whole range") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float32, DType::float64}) {
    for (int k = 0; k < kUnaryCount; ++k) {
      const UnaryKind kind = static_cast<UnaryKind>(k);
      const bool in_unit_interval = kind == UnaryKind::arcsin || kind == UnaryKind::arccos;
      for (double range : {1e-3, 1.0, 10.0, 80.0, 600.0}) {
        if ((in_unit_interval && range > 1) ||
            (dtype == DType::float32 && range > 80 && kind != UnaryKind::sin))
          continue;
        Array x = random({1013}, dtype, static_cast<unsigned>(k + 1), -range, range);
        Array want = zeros({1013}, gives_bool(kind) ? DType::boolean : dtype);
        for (size_t i = 0; i < x.values.size(); ++i)
          want.values[i] = exact_value(kind, x.values[i]);
        auto kernel = make(unary(kind), {x.spec}, {want.spec});
        REQUIRE(kernel);
        Outcome got = run(*kernel, {x}, {want.spec}, 1);
        CAPTURE(name_of(kind), to_text(dtype), range);
        const bool is_periodic =
            kind == UnaryKind::sin || kind == UnaryKind::cos || kind == UnaryKind::tan;
        const double least_magnitude = is_periodic ? 0.1 : dtype == DType::float32 ? 1e-38 : 1e-300;
        const double tolerance = kind == UnaryKind::erf ? 2.4e-7 : 1e-6;
        CHECK(relative_error(got.outputs[0], want, least_magnitude) <=
              (dtype == DType::float32 ? tolerance : 4e-15));
      }
    }
  }
}

TEST_CASE("unary functions answer like IEEE at the edges") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const std::vector<double> special_values = {0,    -0.0, 1,    -1,   kInfinity, -kInfinity,
                                              NAN,  100,  -100, 1e30, -1e30,     88.8,
                                              -104, 2,    0.5,  1e-30};
  for (DType dtype : {DType::float32, DType::float64}) {
    for (int k = 0; k < kUnaryCount; ++k) {
      const UnaryKind kind = static_cast<UnaryKind>(k);
      Array x = zeros({static_cast<int64_t>(special_values.size())}, dtype);
      Array want = zeros(x.spec.shape, gives_bool(kind) ? DType::boolean : dtype);
      for (size_t i = 0; i < special_values.size(); ++i) {
        std::byte bytes[8];
        write(dtype, special_values[i], bytes), x.values[i] = read(dtype, bytes);
        write(want.spec.dtype, exact_value(kind, x.values[i]), bytes),
            want.values[i] = read(want.spec.dtype, bytes);
      }
      Outcome got = run(*make(unary(kind), {x.spec}, {want.spec}), {x}, {want.spec}, 1);
      for (size_t i = 0; i < special_values.size(); ++i) {
        CAPTURE(name_of(kind), to_text(dtype), x.values[i], got.outputs[0].values[i],
                want.values[i]);
        Array g = zeros({1}, dtype), w = zeros({1}, dtype);
        g.values[0] = got.outputs[0].values[i], w.values[0] = want.values[i];
        // for such large angles the result depends on how the angle is rounded
        const bool is_huge_angle = std::abs(x.values[i]) > 1e6;
        if (!is_huge_angle) CHECK(relative_error(g, w, 1e-37) <= 1e-6);
      }
    }
  }
}

TEST_CASE("binary functions broadcast in every pattern, for every number of threads") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const std::pair<Shape, Shape> shapes[] = {{{}, {}},
                                            {{7}, {7}},
                                            {{1000}, {}},
                                            {{}, {1000}},
                                            {{33, 17}, {17}},
                                            {{33, 17}, {33, 1}},
                                            {{300, 400}, {400}},
                                            {{40, 3000}, {3000}},
                                            {{33, 150}, {33, 1}},
                                            {{33, 1}, {150}},
                                            {{3, 5, 130}, {5, 1}},
                                            {{2, 3, 260}, {2, 1, 260}},
                                            {{3, 1, 260}, {4, 1}},
                                            {{5, 1, 7}, {6, 1}},
                                            {{4, 5, 6}, {5, 1}},
                                            {{0, 3}, {3}},
                                            {{2, 3, 1, 5}, {3, 4, 1}},
                                            {{100000}, {100000}},
                                            {{1, 1}, {5, 5}}};
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16, DType::int32,
                      DType::int64, DType::uint8}) {
    for (const auto& [shape_a, shape_b] : shapes) {
      const Shape shape = broadcast_shapes(shape_a, shape_b, "test");
      for (int k = 0; k < kBinaryCount; ++k) {
        const BinaryKind kind = static_cast<BinaryKind>(k);
        const bool is_slow = shape.size() > 10000 && k > 2;
        const bool is_undefined =
            (!is_floating(dtype) && (kind == BinaryKind::divide || kind == BinaryKind::arctan2)) ||
            kind >= BinaryKind::logical_and ||
            (dtype == DType::uint8 && (kind == BinaryKind::subtract || kind == BinaryKind::power));
        if (is_slow || is_undefined) continue;
        const double low = is_floating(dtype) ? 0.5 : 1, high = is_floating(dtype) ? 3 : 4.99;
        Array a = random(shape_a, dtype, 1, low, high), b = random(shape_b, dtype, 2, low, high);
        Array want = zeros(shape, result_of(kind, dtype));
        auto positions = [&](const Shape& in) {
          std::vector<size_t> offsets(static_cast<size_t>(shape.size()));
          for (size_t i = 0; i < offsets.size(); ++i) {
            int64_t remaining = static_cast<int64_t>(i), offset = 0, stride = 1;
            for (int axis = shape.rank() - 1; axis >= 0; --axis) {
              const int in_axis = axis - (shape.rank() - in.rank());
              const int64_t c = remaining % shape[axis];
              remaining /= shape[axis];
              if (in_axis >= 0 && in[in_axis] > 1) offset += c * stride;
              if (in_axis >= 0) stride *= in[in_axis];
            }
            offsets[i] = static_cast<size_t>(offset);
          }
          return offsets;
        };
        const std::vector<size_t> offsets_a = positions(shape_a), offsets_b = positions(shape_b);
        for (size_t i = 0; i < want.values.size(); ++i)
          want.values[i] = exact_value(kind, a.values[offsets_a[i]], b.values[offsets_b[i]]);
        CAPTURE(to_text(shape_a), to_text(shape_b));
        const double error_floor =
            kind == BinaryKind::mod || kind == BinaryKind::floor_divide ? 1e9 : 1;
        check(elementwise_kernels, binary(kind), {a, b}, {want},
              is_floating(dtype) ? error_floor : 1);
      }
    }
  }
}

TEST_CASE("columns and rows are read by steps of every kind") {
  const Shape shape{7, 3, 300};
  const Shape inputs[] = {{7, 1, 1}, {3, 300}, {3, 1}, shape};
  Fused op;
  using Kind = FusedStep::Kind;
  const auto step = [&](BinaryKind kind, int a, int b) {
    op.steps.push_back({Kind::binary, {}, kind, DType::float32, {a, b, 0}});
  };
  step(BinaryKind::add, 0, 2);  // the result is register 4: the columns
  // The result of this step gets the number 5, by which later steps read it.
  op.steps.push_back({Kind::unary, UnaryKind::square, {}, DType::float32, {2, 0, 0}});
  // The result gets the number 6.
  step(BinaryKind::subtract, 0, 3);
  // The result gets the number 7.
  step(BinaryKind::multiply, 6, 1);
  // The result gets the number 8.
  step(BinaryKind::add, 4, 5);
  // The result gets the number 9.
  step(BinaryKind::add, 7, 8);
  op.outputs = {9, 2};
  std::vector<Array> x;
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < 4; ++i)
    x.push_back(random(inputs[i], DType::float32, static_cast<unsigned>(i + 1), -2, 2));
  Array want = zeros(shape, DType::float32), spread = want;
  for (size_t i = 0; i < want.values.size(); ++i) {
    const size_t column = i % 300, middle = i / 300 % 3, first = i / 900;
    const double a = x[0].values[first], b = x[1].values[middle * 300 + column],
                 c = x[2].values[middle], d = x[3].values[i];
    want.values[i] = (a - d) * b + (a + c + c * c);
    spread.values[i] = c;
  }
  CHECK(check(elementwise_kernels, op, x, {want, spread}) == 2);
}

TEST_CASE("NaN wins in maximum and minimum, on either side") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  Array a = zeros({40}), b = zeros({40});
  a.values[7] = NAN, b.values[20] = NAN;
  for (BinaryKind kind : {BinaryKind::maximum, BinaryKind::minimum}) {
    const Array got =
        run(*make(binary(kind), {a.spec, b.spec}, {a.spec}), {a, b}, {a.spec}, 1).outputs[0];
    for (size_t i = 0; i < 40; ++i) CHECK(std::isnan(got.values[i]) == (i == 7 || i == 20));
  }
}

TEST_CASE("select takes its condition in any broadcast") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (Shape condition : {Shape{}, Shape{6}, Shape{5, 1}, Shape{5, 6}}) {
    Array c = zeros(condition, DType::boolean), a = random({5, 6}, DType::float32, 1),
          b = random({}, DType::float32, 2);
    for (size_t i = 0; i < c.values.size(); ++i) c.values[i] = i % 3 == 0;
    Array want = zeros({5, 6});
    for (int64_t i = 0; i < 30; ++i) {
      const int64_t at = condition.rank() == 0      ? 0
                         : condition == Shape{6}    ? i % 6
                         : condition == Shape{5, 1} ? i / 6
                                                    : i;
      want.values[static_cast<size_t>(i)] = c[at] != 0 ? a[i] : b[0];
    }
    CHECK(check(elementwise_kernels, Select{}, {c, a, b}, {want}) == 2);
  }
}

TEST_CASE("cast converts between all dtypes as core converts single values") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const std::vector<double> numbers = {0,     1,      2,    100.75,  3.5,    65504, 65519, 65520,
                                       70000, 6.1e-5, 1e-6, 5.96e-8, 2.9e-8, 1e-8,  0.333, 250};
  // Other dtypes are tested by the script tests/shell/tensors/dtypes.lua.
  constexpr int kDTypes = static_cast<int>(DType::boolean) + 1;
  for (int f = 0; f < kDTypes; ++f) {
    for (int t = 0; t < kDTypes; ++t) {
      const DType from = static_cast<DType>(f), to = static_cast<DType>(t);
      Array x = zeros({static_cast<int64_t>(numbers.size())}, from), want = zeros(x.spec.shape, to);
      for (size_t i = 0; i < numbers.size(); ++i) {
        const bool fits =
            is_floating(from) ||
            (from == DType::boolean ? numbers[i] <= 1 : from != DType::uint8 || numbers[i] < 256);
        double value = fits ? numbers[i] : 1;
        if (to == DType::uint8 && value > 255) value = 3;
        std::byte bytes[8];
        write(from, value, bytes), x.values[i] = read(from, bytes);
        write(to, to == DType::boolean ? x.values[i] != 0 : x.values[i], bytes),
            want.values[i] = read(to, bytes);
      }
      Cast op;
      op.dtype = to;
      Outcome got = run(*make(op, {x.spec}, {want.spec}), {x}, {want.spec}, 1);
      CAPTURE(to_text(from), to_text(to));
      CHECK(got.outputs[0].values == want.values);
    }
  }
  Cast op;
  op.dtype = DType::float32;
  for (DType half_dtype :
       {DType::float16, DType::bfloat16}) {  // tests every bit pattern of 16 bits
    std::vector<uint16_t> bits(65536);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    std::vector<float> float32_values(bits.size());
    std::vector<uint16_t> bits_after_round_trip(bits.size());
    cpu::Pool pool(1);
    const std::byte* in[] = {reinterpret_cast<std::byte*>(bits.data())};
    std::byte* out[] = {reinterpret_cast<std::byte*>(float32_values.data())};
    make(op, {{half_dtype, {65536}}}, {{DType::float32, {65536}}})->run({in, out, nullptr, pool});
    Cast narrowing;
    narrowing.dtype = half_dtype;
    const std::byte* in2[] = {reinterpret_cast<std::byte*>(float32_values.data())};
    std::byte* out2[] = {reinterpret_cast<std::byte*>(bits_after_round_trip.data())};
    make(narrowing, {{DType::float32, {65536}}}, {{half_dtype, {65536}}})
        ->run({in2, out2, nullptr, pool});
    size_t wrong_count = 0;
    for (size_t i = 0; i < bits.size(); ++i) {
      const float expected =
          half_dtype == DType::float16 ? float16_to_float(bits[i]) : bfloat16_to_float(bits[i]);
      if (std::isnan(expected))
        wrong_count += !std::isnan(float32_values[i]);
      else
        wrong_count += float32_values[i] != expected || bits_after_round_trip[i] != bits[i];
    }
    CHECK(wrong_count == 0);
  }
}

TEST_CASE("rounding to half width agrees with core for many floats") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  std::mt19937 generator(3);
  for (DType half_dtype : {DType::float16, DType::bfloat16}) {
    std::vector<float> x(200000);
    for (float& v : x) {
      uint32_t bits = generator();
      std::memcpy(&v, &bits, 4);
      if (half_dtype == DType::float16 && generator() % 2 && std::isnormal(v))
        v = std::ldexp(v, -static_cast<int>(std::ilogb(v)) % 40 - 10);
    }
    std::vector<uint16_t> y(x.size());
    Cast op;
    op.dtype = half_dtype;
    const int64_t n = static_cast<int64_t>(x.size());
    const std::byte* in[] = {reinterpret_cast<std::byte*>(x.data())};
    std::byte* out[] = {reinterpret_cast<std::byte*>(y.data())};
    cpu::Pool pool(2);
    make(op, {{DType::float32, {n}}}, {{half_dtype, {n}}})->run({in, out, nullptr, pool});
    size_t wrong_count = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!std::isnan(x[i]))
        wrong_count += y[i] != (half_dtype == DType::float16 ? float_to_float16(x[i])
                                                             : float_to_bfloat16(x[i]));
    }
    CHECK(wrong_count == 0);
  }
}
