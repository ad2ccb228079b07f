// Every case of the table of ops on the device under test: results and gradients, in each dtype,
// equal those of the cpu in float64.
#include "ops/cases.h"
#include "support.h"

namespace crescent::test {
namespace {

Tensors in_float64(const Tensors& tensors) {
  Tensors float64_tensors;
  for (const Tensor& x : tensors)
    float64_tensors.push_back(is_floating(x.dtype()) ? ops::cast(x, DType::float64) : x);
  return float64_tensors;
}

void compare(const Tensors& got, const Tensors& expected, double factor) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    REQUIRE(bool(got[i]) == bool(expected[i]));
    if (!got[i]) continue;
    CHECK(got[i].shape() == expected[i].shape());
    CHECK(difference(got[i], expected[i]) <= tolerance_of(got[i].dtype()) * factor);
  }
}

}  // namespace

TEST_CASE("ops: every row of the table, op by op and compiled") {
  for (const Case& c : all_cases()) {
    DYNAMIC_SECTION(c.name) {
      for (DType dtype : dtypes_of(c.dtypes)) {
        INFO(name_of(dtype));
        const Tensors inputs = on_cpu([&] { return draw(c, dtype); });
        const Tensors expected = on_cpu([&] { return c.run(in_float64(inputs)); });
        compare(c.run(inputs), expected, c.tolerance);
        compare(Function(c.run)(inputs), expected, c.tolerance);
      }
    }
  }
}

TEST_CASE("ops: every gradient of the table") {
  for (const Case& c : all_cases()) {
    if (!c.has_gradient) continue;
    DYNAMIC_SECTION(c.name) {
      for (DType dtype : dtypes_of(c.dtypes)) {
        if (dtype != DType::float64 && dtype != DType::float32) continue;
        INFO(name_of(dtype));
        const Tensors inputs = on_cpu([&] { return draw(c, dtype); });
        const Tensors expected = on_cpu([&] { return gradients(c, in_float64(inputs)); });
        compare(gradients(c, inputs), expected, 3 * c.tolerance);
      }
    }
  }
}

TEST_CASE("ops: random numbers are the same bits everywhere") {
  for (RandomKind kind :
       {RandomKind::uniform, RandomKind::normal, RandomKind::truncated_normal, RandomKind::bits}) {
    for (const Shape& shape : {Shape{1}, Shape{7}, Shape{33, 65}}) {
      DYNAMIC_SECTION(static_cast<int>(kind) << " of " << to_text(shape)) {
        auto draw_all = [&] {
          Random op;
          op.kind = kind, op.shape = shape;
          if (kind == RandomKind::bits) op.dtype = DType::int32;
          const Tensor state = Tensor::from(std::vector<int64_t>{12345, 6}, {2});
          return apply1(op, {state}).to_vector();
        };
        CHECK(draw_all() == on_cpu(draw_all));
      }
    }
  }
}

TEST_CASE("ops: the state of a generator moves on as elsewhere") {
  auto draws = [] {
    const SeedGenerator generator(7);
    std::vector<double> all_numbers;
    for (int i = 0; i < 3; ++i)
      for (double x : generator.normal({3}).to_vector()) all_numbers.push_back(x);
    for (int64_t x : generator.permutation(20)) all_numbers.push_back(double(x));
    return all_numbers;
  };
  CHECK(draws() == on_cpu(draws));
}

}  // namespace crescent::test
