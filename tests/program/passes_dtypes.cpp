// Instructions that passes may remove or merge in each dtype: the results must stay those of the
// original program.
#include <limits>

#include "passes.h"

namespace crescent::passes {
namespace {

using namespace ops;

constexpr DType kNumberDTypes[] = {DType::boolean, DType::uint8,  DType::int8,    DType::int16,
                                   DType::int32,   DType::int64,  DType::float16, DType::bfloat16,
                                   DType::float32, DType::float64};

/// Powers of 2 over the range of the dtype and the values next to them, with both signs;
/// floating-point values stay below `largest`.
Tensor limits_of(DType dtype, double largest) {
  if (!is_floating(dtype)) {
    std::vector<int64_t> integers = {0, std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max()};
    for (int e = 0; e < 63; ++e)
      for (int64_t neighbour : {-1, 0, 1})
        for (int64_t sign : {-1, 1}) integers.push_back(sign * ((int64_t{1} << e) + neighbour));
    return cast(Tensor::from(integers, {static_cast<int64_t>(integers.size())}), dtype);
  }
  std::vector<double> values = {0};
  for (int e = -130; e <= 127; ++e) {
    for (double neighbour : {1 - 0x1p-53, 1 - 0x1p-24, 1 - 0x1p-11, 1 - 0x1p-8, 1.0, 1 + 0x1p-7,
                             1 + 0x1p-10, 1 + 0x1p-23, 1 + 0x1p-52}) {
      for (double sign : {-1.0, 1.0}) {
        const double value = sign * std::ldexp(neighbour, e);
        if (std::abs(value) < largest && std::abs(value) > 0x1p-14) values.push_back(value);
      }
    }
  }
  return cast(Tensor::from(values, {static_cast<int64_t>(values.size())}), dtype);
}

/// The result of the optimized program for this input.
Tensor optimized(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                 std::string* instructions = nullptr) {
  Program program = optimize(
      traced([&](const Tensors& in) { return Tensors{f(in[0])}; }, {x.spec()}), OptimizeOptions{});
  if (instructions) *instructions = names(program);
  Tensors outputs{Tensor(program.values[static_cast<size_t>(program.outputs[0])])};
  compile(program)->run(Tensors{x}, {}, outputs);
  return outputs[0];
}

bool are_same(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace

TEST_CASE("casts are left out where the dtype between has every number, and only there",
          "[passes]") {
  for (DType a : kNumberDTypes) {
    for (DType b : kNumberDTypes) {
      for (DType c : kNumberDTypes) {
        const bool has_integers =
            // For other pairs of dtypes the result is undefined.
            !is_floating(b) || !is_floating(c);
        const Tensor x = limits_of(a, has_integers ? 120 : std::numeric_limits<double>::infinity());
        const auto cast_twice = [&](const Tensor& t) { return cast(cast(t, b), c); };
        CAPTURE(a, b, c);
        std::string remaining_ops;
        const bool is_same = are_same(optimized(cast_twice, x, &remaining_ops), cast_twice(x));
        CHECK(is_same);
        if (a == b || b == c) continue;
        const Tensor limits = limits_of(a, std::numeric_limits<double>::infinity());
        const Tensor converted_limits = cast(limits, b);
        const bool is_lossless = are_same(cast(converted_limits, a), limits) &&
                                 converted_limits.to_vector() == limits.to_vector();
        CHECK(remaining_ops == (!is_lossless ? "fused" : a == c ? "" : "cast"));
      }
    }
  }
}

TEST_CASE("reductions of what is repeated have the numbers of the plain ones", "[passes]") {
  using enum ReduceKind;
  for (DType dtype : kNumberDTypes) {
    const double step = dtype == DType::float16    ? 0x1p-10
                        : dtype == DType::bfloat16 ? 0x1p-7
                        : dtype == DType::float32  ? 1e-6
                                                   : 1e-14;
    const Tensor x =
        cast(dtype == DType::boolean ? Tensor::from(std::vector<float>{0, 1, 1}, {3, 1})
                                     : Tensor::from(std::vector<float>{0, 3, 101}, {3, 1}),
             dtype);
    for (int64_t count : {1, 2, 127, 128, 129, 256, 300, 2049, 32768, 65504, 65536, 70001}) {
      for (ReduceKind kind : {sum, mean, max, min, any, all}) {
        const bool is_logical = kind == any || kind == all;
        if (is_logical != (dtype == DType::boolean) || (kind == mean && !is_floating(dtype)))
          continue;
        for (bool keepdims : {false, true}) {
          const auto reduce = [&](const Tensor& t) {
            Reduce op = reduce_op(kind, {1});
            op.keepdims = keepdims;
            return apply1(op, {broadcast_to(t, {3, count})});
          };
          CAPTURE(dtype, count, name_of(kind), keepdims);
          const auto got = optimized(reduce, x).to_vector(), want = reduce(x).to_vector();
          for (size_t i = 0; i < want.size(); ++i)
            CHECK((got[i] == want[i] || std::abs(got[i] - want[i]) <= step * std::abs(want[i])));
        }
      }
    }
  }
}

TEST_CASE("sums of a filled tensor wrap around as plain ones do", "[passes]") {
  struct FilledSum {
    DType dtype;
    double number;
    int64_t count;
  };
  for (const FilledSum& filled_sum :
       {FilledSum{DType::int8, 100, 300}, FilledSum{DType::uint8, 255, 3},
        FilledSum{DType::int16, 30000, 70000}, FilledSum{DType::int32, 0x1p30, 5},
        FilledSum{DType::int32, 7, 9}, FilledSum{DType::int64, 0x1p52 + 1, 3},
        FilledSum{DType::int64, 0x1p52 + 1, 70001}, FilledSum{DType::float16, 60000, 3},
        FilledSum{DType::float16, 0.001, 70000}, FilledSum{DType::bfloat16, 3, 70001}}) {
    CAPTURE(filled_sum.dtype, filled_sum.number, filled_sum.count);
    Program program;
    const int filled_tensor =
        add(program, fill_op({filled_sum.count}, filled_sum.number, filled_sum.dtype), {});
    program.outputs = {add(program, reduce_op(ReduceKind::sum, {0}), {filled_tensor})};
    rewritten(program, shapes, filled_sum.dtype == DType::bfloat16 ? 0x1p-7 : 1e-3);
  }
}

}  // namespace crescent::passes
