// Elementwise steps that are fused with the reductions that read their results, or that read slices
// directly from the sliced array.
#include <catch2/catch.hpp>

#include <functional>

#include "../kernels/support.h"
#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu::test;

namespace {

using Body = std::function<Tensors(const Tensors&)>;

struct Result {
  std::vector<std::vector<double>> values;
  size_t step_count;
};

/// Runs a program that applies `read` to the results of `make`; with `stores_values` the results of
/// `make` are also outputs.
Result run(const Body& make, const Body& read, const Tensors& inputs, bool stores_values) {
  TensorSpecs specs;
  for (const Tensor& x : inputs) specs.push_back(x.spec());
  const Program program = optimize(trace(
      [&](const Tensors& in) {
        const Tensors made_values = make(in);
        Tensors results = read(made_values);
        if (stores_values) results.insert(results.end(), made_values.begin(), made_values.end());
        return results;
      },
      specs));
  auto executable = compile(program, test_device());
  Tensors outputs = outputs_of(program);
  executable->run(inputs, {}, outputs);
  Result result{{}, executable->rows().size()};
  for (const Tensor& y : outputs) result.values.push_back(y.to_vector());
  return result;
}

/// Checks that the results are bit-identical whether or not the results of `make` are stored, for
/// any number of threads.
void check(const Body& make, const Body& read, const Tensors& inputs, size_t step_count) {
  const Result want = run(make, read, inputs, true);
  for (int threads : {1, 2, 3, 9}) {
    CAPTURE(threads);
    test_device().set_threads(threads);
    const Result got = run(make, read, inputs, false);
    CHECK(got.step_count == step_count);
    for (size_t i = 0; i < got.values.size(); ++i) {
      // The values are compared as one boolean, so that a failure does not print many numbers.
      const bool is_same = got.values[i] == want.values[i];
      CHECK(is_same);
    }
  }
  test_device().set_threads(0);
}

}  // namespace

TEST_CASE("what is made for a reduction alone is made within it, with the same bits",
          "[cpu][joined_steps]") {
  const std::pair<Shape, std::vector<int>> cases[] = {
      {{300000}, {0}},         {{70, 5000}, {1}},         {{70, 5000}, {0}},
      {{5000, 7}, {1}},        {{5000, 7}, {0}},          {{300, 2500}, {0}},
      {{3000, 513}, {0}},      {{130, 10000}, {0}},       {{40, 30, 20, 10}, {0, 2}},
      {{40, 30, 20, 10}, {1}}, {{40, 30, 20, 10}, {1, 3}}};
  const auto halved = [](const Tensors& in) { return Tensors{in[0] * in[1] + 0.5}; };
  for (const auto& [shape, axes] : cases) {
    CAPTURE(to_text(shape), axes);
    const Tensors inputs = {sines(shape, 1), sines({shape[-1]}, 2)};
    const auto reduced = [&](auto f) {
      return [&axes = axes, f](const Tensors& made_values) {
        return Tensors{f(made_values[0], axes)};
      };
    };
    check(halved, reduced([](const Tensor& x, auto& a) { return ops::sum(x, a); }), inputs, 1);
    check(halved, reduced([](const Tensor& x, auto& a) { return ops::mean(x, a, true); }), inputs,
          1);
    check(halved, reduced([](const Tensor& x, auto& a) { return ops::max(x, a); }), inputs, 1);
    check(halved, reduced([](const Tensor& x, auto& a) { return ops::prod(x, a); }), inputs, 1);
  }
}

TEST_CASE("reductions over the same axes share what is made for them", "[cpu][joined_steps]") {
  for (const Shape& shape : {Shape{200, 3000}, Shape{3000, 200}, Shape{40000, 16}}) {
    for (int axis : {0, 1}) {
      CAPTURE(to_text(shape), axis);
      const auto make = [](const Tensors& in) {
        const Tensor is_positive = ops::greater(in[0], 0);
        return Tensors{ops::where(is_positive, in[0], 0), ops::cast(is_positive, DType::int32)};
      };
      const auto reduce = [&](const Tensors& made_values) {
        return Tensors{ops::sum(made_values[0], {axis}), ops::max(made_values[0], {axis}),
                       ops::sum(made_values[1], {axis})};
      };
      check(make, reduce, {sines(shape, 1)}, 1);
      const auto sums_of_both = [&](const Tensors& made_values) {
        return Tensors{ops::sum(made_values[0], {axis}), ops::sum(made_values[1], {1 - axis})};
      };
      check(make, sums_of_both, {sines(shape, 1)}, 3);
    }
  }
}

TEST_CASE("a chain that is summed as one loop adds in the order of other sums",
          "[cpu][joined_steps]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const auto without_nan = [](const Tensors& in) {
    return Tensors{ops::where(ops::isnan(in[0]), in[1], in[0])};
  };
  for (const Shape& shape :
       {Shape{3}, Shape{63}, Shape{2047}, Shape{2048}, Shape{2049}, Shape{2111}, Shape{70000},
        Shape{300003}, Shape{6, 2048}, Shape{70, 5001}}) {
    CAPTURE(to_text(shape));
    const int axis = shape.rank() - 1;
    Tensor x = sines(shape, 1);
    for (int64_t i = 0; i < x.size(); i += 5) x.mutable_data<float>()[i] = NAN;
    x.mutable_data<float>()[x.size() - 1] = NAN;
    // Large numbers in neighbouring lanes cancel out only if they are added in the right order.
    if (x.size() > 3) x.mutable_data<float>()[2] = 1e20f, x.mutable_data<float>()[3] = -1e20f;
    for (float replacement : {0.0f, 1.25f, INFINITY}) {
      const Tensors inputs = {x, Tensor::scalar(replacement, DType::float32)};
      const auto sum = [&](const Tensors& made) { return Tensors{ops::sum(made[0], {axis})}; };
      check(without_nan, sum, inputs, 1);
      const auto mean = [&](const Tensors& made) { return Tensors{ops::mean(made[0], {axis})}; };
      check(without_nan, mean, inputs, 1);
    }
  }
}

TEST_CASE("half-width numbers are rounded before they are reduced", "[cpu][joined_steps]") {
  const auto make = [](const Tensors& in) {
    return Tensors{ops::exp(ops::cast(in[0], DType::bfloat16))};
  };
  for (int axis : {0, 1}) {
    const auto reduce = [&](const Tensors& made_values) {
      return Tensors{ops::sum(made_values[0], {axis})};
    };
    check(make, reduce, {sines({300, 2500}, 1)}, 1);
  }
}

TEST_CASE("what a variable takes in is reduced where it was", "[cpu][joined_steps]") {
  const Shape shape = {300, 2500};
  const Variable last_variable(Tensor::full({2500}, 1.0f));
  const Tensors inputs = {sines(shape, 1)};
  const Program program = optimize(trace(
      [&](const Tensors& in) {
        const Tensor old = last_variable.value();
        const Tensor sum = ops::sum(ops::square(in[0]), {0}),
                     cumulative_sum = ops::cumsum(in[0] * old, 1);
        last_variable.assign(sum);
        return Tensors{cumulative_sum};
      },
      TensorSpecs{inputs[0].spec()}));
  Tensors variables = {last_variable.value() + 0.0f}, outputs = {Tensor(shape, DType::float32)};
  compile(program, test_device())->run(inputs, variables, outputs);
  CHECK(variables[0].to_vector() == ops::sum(ops::square(inputs[0]), {0}).to_vector());
  CHECK(outputs[0].to_vector() == ops::cumsum(inputs[0], 1).to_vector());
}

TEST_CASE("slices are read where they lie", "[cpu][joined_steps]") {
  const auto neighbours = [](int axis) {
    return [axis](const Tensors& in) {
      const int64_t n = in[0].dim(axis);
      return Tensors{ops::slice_axis(in[0], axis, 1, n), ops::slice_axis(in[0], axis, 0, n - 1)};
    };
  };
  const auto difference = [](const Tensors& made_values) {
    return Tensors{made_values[0] - made_values[1]};
  };
  const auto sum = [](const Tensors& made_values) {
    return Tensors{ops::sum(made_values[0] * made_values[1], {0})};
  };
  for (const Shape& shape :
       {Shape{5000}, Shape{70, 5000}, Shape{50, 300, 4}, Shape{6, 1, 5, 700}}) {
    for (int axis : {0, shape.rank() - 2, shape.rank() - 1}) {
      if (axis < 0 || shape[axis] == 1) continue;
      const bool is_short = axis == shape.rank() - 1 && shape[axis] < 256;
      CAPTURE(to_text(shape), axis);
      check(neighbours(axis), difference, {sines(shape, 1)}, is_short ? 3 : 1);
      check(neighbours(axis), sum, {sines(shape, 1)}, is_short ? 3 : 1);
    }
  }
}

TEST_CASE("slices that repeat, that are small, or that others read are cut out",
          "[cpu][joined_steps]") {
  const auto row_slice = [](const Tensors& in) {
    return Tensors{ops::slice_axis(in[0], 0, 3, 303)};
  };
  const auto add = [](const Tensors& x) {
    return [x](const Tensors& made_values) { return Tensors{made_values[0] + x[0]}; };
  };
  check(row_slice, add({sines({40, 300}, 2)}), {sines({1000}, 1)}, 2);
  check(row_slice, add({sines({300, 300}, 2)}), {sines({1000, 1}, 1)}, 2);
  const auto doubled_values = [](const Tensors& made_values) {
    return Tensors{made_values[0] + 1.0, ops::cumsum(made_values[0], 0)};
  };
  check(row_slice, doubled_values, {sines({1000}, 1)}, 3);
  const auto shorter_sum = [](const Tensors& in) {
    return Tensors{ops::slice_axis(ops::cumsum(in[0], 0), 0, 3, 303)};
  };
  check(shorter_sum, add({sines({300}, 2)}), {sines({1000}, 1)}, 3);
  check(shorter_sum, add({sines({300}, 2)}), {sines({400}, 1)}, 2);
}

// The first half of an array, cast to an element type twice as wide, has as many bytes as the
// array. It must not be written over the array while this is still read.
TEST_CASE("a slice is not overwritten where it lies by wider elements made of it",
          "[cpu][joined_steps]") {
  const std::pair<DType, DType> casts[] = {{DType::float32, DType::float64},
                                           {DType::float16, DType::float32},
                                           {DType::bfloat16, DType::float32},
                                           {DType::int32, DType::float64},
                                           {DType::int16, DType::int32}};
  for (const auto& [narrow_dtype, wide_dtype] : casts) {
    for (int64_t n : {8, 255, 256, 257, 1000, 5000}) {
      CAPTURE(narrow_dtype, wide_dtype, n);
      const auto first_half = [](const Tensors& in) {
        return Tensors{ops::slice_axis(ops::cumsum(in[0], 1), 0, 0, 2)};
      };
      const auto read = [wide_dtype = wide_dtype](const Tensors& made_values) {
        return Tensors{ops::cumsum(ops::cast(made_values[0], wide_dtype), 1)};
      };
      const Tensors inputs{ops::cast(sines({4, n}, 1) * 10, narrow_dtype)};
      const bool is_same = run(first_half, read, inputs, false).values[0] ==
                           run(first_half, read, inputs, true).values[0];
      CHECK(is_same);
    }
  }
}

TEST_CASE("slices of every extent are read as they lie, in every layout", "[cpu][joined_steps]") {
  const uint64_t seed = 7;
  uint64_t draw_count = 0;
  const auto random_below = [&](int64_t n) {
    return static_cast<int64_t>(philox(seed, 0, draw_count++).word[0] % static_cast<uint64_t>(n));
  };
  constexpr int64_t kExtents[] = {1, 1, 2, 3, 4, 8, 63, 65, 255, 257, 511, 513, 1025, 4097};
  for (int round = 0; round < 400; ++round) {
    Shape whole_shape, cut_shape;
    std::vector<int64_t> start_indices, part_sizes;
    for (int64_t axes = 1 + random_below(4), max_extent = 40000; axes > 0; --axes) {
      const int64_t extent = std::min(kExtents[random_below(std::size(kExtents))], max_extent);
      max_extent = std::max<int64_t>(max_extent / extent, 1);
      const int64_t part_size = random_below(3) == 0   ? 1
                                : random_below(2) == 0 ? extent
                                                       : 1 + random_below(extent);
      whole_shape.append(extent), cut_shape.append(part_size), part_sizes.push_back(part_size);
      start_indices.push_back(random_below(extent - part_size + 1));
    }
    // The shape of the other operand determines how the slice is broadcast.
    Shape other_shape = cut_shape;
    for (int axis = 0; axis < cut_shape.rank(); ++axis)
      if (cut_shape[axis] == 1 && other_shape.size() < 1000 && random_below(2) == 0)
        other_shape.set(axis, 1 + random_below(300));
    CAPTURE(round, to_text(whole_shape), to_text(cut_shape), to_text(other_shape), start_indices);
    const auto slice = [&](const Tensors& in) {
      return Tensors{ops::slice(in[0], start_indices, part_sizes)};
    };
    const Tensor other_operand = sines(other_shape, 2);
    const auto results_of_slice = [&](const Tensors& made_values) {
      return Tensors{ops::relu(made_values[0]) * other_operand, ops::square(made_values[0])};
    };
    const Tensors inputs = {sines(whole_shape, 1)}, want = results_of_slice(slice(inputs));
    const Result got = run(slice, results_of_slice, inputs, false);
    for (size_t i = 0; i < want.size(); ++i) {
      const bool is_same = got.values[i] == want[i].to_vector();
      CHECK(is_same);
    }
  }
}

TEST_CASE("slices with steps are read as they lie, along every axis", "[cpu][joined_steps]") {
  for (const Shape& shape :
       {Shape{5000}, Shape{70, 5000}, Shape{50, 300, 4}, Shape{6, 1, 5, 700}, Shape{9, 300, 257}}) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (int64_t step : {2, 3, 5}) {
        for (int64_t first : {0, 1}) {
          if (first >= shape[axis]) continue;
          CAPTURE(to_text(shape), axis, step, first);
          const auto slice = [&](const Tensors& in) {
            return Tensors{ops::slice_axis(in[0], axis, first, shape[axis], step)};
          };
          const auto read = [](const Tensors& made_values) {
            return Tensors{ops::relu(made_values[0]) * 3.0, ops::square(made_values[0])};
          };
          const Tensors inputs = {sines(shape, 1)}, want = read(slice(inputs));
          const Result got = run(slice, read, inputs, false);
          for (size_t i = 0; i < want.size(); ++i) {
            const bool is_same = got.values[i] == want[i].to_vector();
            CHECK(is_same);
          }
        }
      }
    }
  }
}
