#include <bit>

#include "matmul/amx.h"
#include "matmul/amx_cut.h"
#include "matmul/matmul.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

double activate(double x, ActivationKind e) {
  switch (e) {
    case ActivationKind::none:
      return x;
    case ActivationKind::relu:
      return x > 0 ? x : 0;
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationKind::tanh:
      return std::tanh(x);
  }
  return x;
}

int64_t broadcast_offset(const Shape& shape, const Shape& leading, int64_t item) {
  int64_t offset = 0, stride = shape[-1] * shape[-2];
  for (int i = leading.rank() - 1; i >= 0; --i) {
    const int shape_axis = i - (leading.rank() - (shape.rank() - 2));
    if (shape_axis >= 0)
      offset += (shape[shape_axis] == 1 ? 0 : item % leading[i]) * stride,
          stride *= shape[shape_axis];
    item /= leading[i];
  }
  return offset;
}

/// The operands and post-ops of a product.
struct Product {
  bool transpose_a = false, transpose_b = false, has_bias = false;
  Combine combine = Combine::none;
  ActivationKind activation = ActivationKind::none;
  Mixed mixed = Mixed::no;

  WithPostOps op() const {
    Matmul matmul;
    matmul.transpose_a = transpose_a, matmul.transpose_b = transpose_b;
    WithPostOps op = with_post_ops(matmul, has_bias, combine, activation);
    op.mixed = mixed;
    return op;
  }
};

Array expected_product(const Product& op, const std::vector<Array>& in, const Shape& shape) {
  Array c = zeros(shape, in[0].spec.dtype);
  const Shape leading = shape.slice(0, shape.rank() - 2);
  const int64_t m = shape[-2], n = shape[-1], k = in[0].spec.shape[op.transpose_a ? -2 : -1];
  for (int64_t item = 0; item < leading.size(); ++item) {
    const int64_t a = broadcast_offset(in[0].spec.shape, leading, item);
    const int64_t b = broadcast_offset(in[1].spec.shape, leading, item);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t q = 0; q < k; ++q) {
          sum += in[0][a + (op.transpose_a ? q * m + i : i * k + q)] *
                 in[1][b + (op.transpose_b ? j * k + q : q * n + j)];
        }
        const int64_t at = (item * m + i) * n + j;
        if (op.combine == Combine::add) sum += in[op.has_bias ? 3 : 2][at];
        if (op.combine == Combine::mask && !(in[op.has_bias ? 3 : 2][at] > 0)) sum = 0;
        c.values[at] = activate(op.has_bias ? sum + in[2][j] : sum, op.activation);
      }
    }
  }
  return c;
}

Shape matrix_shape(Shape leading, int64_t rows, int64_t columns, bool transposed) {
  leading.append(transposed ? columns : rows), leading.append(transposed ? rows : columns);
  return leading;
}

int check_product(const Product& op, const Shape& leading_a, const Shape& leading_b,
                  const Shape& leading_c, int64_t m, int64_t n, int64_t k, DType dtype) {
  std::vector<Array> in = {random(matrix_shape(leading_a, m, k, op.transpose_a), dtype, 1),
                           random(matrix_shape(leading_b, k, n, op.transpose_b), dtype, 2)};
  if (op.has_bias) in.push_back(random({n}, dtype, 3));
  if (op.combine != Combine::none)
    in.push_back(random(matrix_shape(leading_c, m, n, false), dtype, 4));
  return check(matmul_kernels, op.op(), in,
               {expected_product(op, in, matrix_shape(leading_c, m, n, false))});
}

Product matmul(bool transpose_a, bool transpose_b, bool has_bias = false,
               ActivationKind e = ActivationKind::none) {
  Product op;
  op.transpose_a = transpose_a, op.transpose_b = transpose_b, op.has_bias = has_bias,
  op.activation = e;
  return op;
}

}  // namespace

TEST_CASE("matmul agrees with plain loops for odd sizes and transposes", "[cpu][matmul]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  const int64_t sizes[][3] = {{1, 1, 1},       {1, 17, 3},     {3, 5, 7},     {4, 16, 33},
                              {17, 31, 64},    {1, 257, 300},  {1, 9, 5000},  {128, 10, 65},
                              {33, 130, 129},  {130, 7, 2100}, {64, 64, 64},  {5, 1, 4000},
                              {8, 64, 130},    {20, 96, 260},  {13, 40, 129}, {1, 130, 2100},
                              {40, 201, 1300}, {1, 1, 70000},  {700, 1, 300}};
  for (auto [m, n, k] : sizes) {
    for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
      CAPTURE(m, n, k, transpose_bits);
      CHECK(check_product(matmul(transpose_bits & 1, transpose_bits & 2), {}, {}, {}, m, n, k,
                          DType::float32) >= 2);
    }
  }
}

TEST_CASE("matmul adds the bias and applies the epilogue", "[cpu][matmul]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (auto e : {ActivationKind::none, ActivationKind::relu, ActivationKind::sigmoid,
                 ActivationKind::tanh}) {
    for (DType dtype : {DType::float32, DType::float64}) {
      check_product(matmul(false, false, true, e), {}, {}, {}, 3, 5, 7, dtype);
      check_product(matmul(false, true, true, e), {}, {}, {}, 1, 200, 300, dtype);
      check_product(matmul(false, false, true, e), {}, {}, {}, 1, 200, 700, dtype);
      check_product(matmul(true, false, true, e), {}, {}, {}, 40, 150, 70, dtype);
      check_product(matmul(true, false, true, e), {}, {}, {}, 16, 10, 400, dtype);
    }
  }
}

TEST_CASE("matmul combines its result with another array", "[cpu][matmul]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (auto combine : {Combine::add, Combine::mask}) {
    for (bool has_bias : {false, true}) {
      if (has_bias && combine == Combine::mask) continue;
      Product op =
          matmul(false, true, has_bias, has_bias ? ActivationKind::relu : ActivationKind::none);
      op.combine = combine;
      for (DType dtype : {DType::float32, DType::float64}) {
        check_product(op, {}, {}, {}, 3, 5, 7, dtype);
        check_product(op, {}, {}, {}, 1, 200, 300, dtype);
        check_product(op, {}, {}, {}, 300, 150, 70, dtype);
        check_product(op, {3}, {3}, {3}, 70, 66, 40, dtype);
      }
      op.transpose_a = true, op.transpose_b = false;
      check_product(op, {}, {}, {}, 130, 150, 4000, DType::float32);
      if (amx::available()) CHECK(check_product(op, {}, {}, {}, 40, 70, 4000, DType::bfloat16) > 0);
      if (amx::available()) CHECK(check_product(op, {}, {}, {}, 100, 70, 90, DType::bfloat16) > 0);
    }
  }
}

TEST_CASE("small products are not lost beside what they are added to", "[cpu][matmul]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (auto [m, n, k] : {std::array<int64_t, 3>{20, 64, 100}, {20, 70, 465}, {130, 64, 1000}}) {
    for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
      CAPTURE(m, n, k, transpose_bits);
      Product product = matmul(transpose_bits & 1, transpose_bits & 2);
      product.combine = Combine::add;
      const WithPostOps op = product.op();
      const DType dtype = DType::float32;
      const Array a{{dtype, matrix_shape({}, m, k, transpose_bits & 1)},
                    std::vector<double>(m * k, 0x1p-13)},
          b{{dtype, matrix_shape({}, k, n, transpose_bits & 2)},
            std::vector<double>(k * n, 0x1p-13)},
          c{{dtype, {m, n}}, std::vector<double>(m * n, 1)};
      const TensorSpecs in{a.spec, b.spec, c.spec}, out{c.spec};
      const Array got = run(*make_kernel({op, in, out, Options{}}), {a, b, c}, out, 1).outputs[0];
      const double want = 1 + static_cast<double>(k) * 0x1p-26;
      for (double y : got.values)
        if (!(std::abs(y - want) < 0x1p-22)) FAIL(y << " for " << want);
    }
  }
}

TEST_CASE("matmul broadcasts leading axes", "[cpu][matmul]") {
  const Shape leading_shapes[][3] = {{{2, 3}, {2, 3}, {2, 3}}, {{2, 3}, {}, {2, 3}},
                                     {{}, {4}, {4}},           {{2, 1}, {1, 3}, {2, 3}},
                                     {{3}, {2, 3}, {2, 3}},    {{2, 3}, {1, 1}, {2, 3}}};
  for (const auto& [a, b, c] : leading_shapes) {
    for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
      check_product(matmul(transpose_bits & 1, transpose_bits & 2, transpose_bits == 1), a, b, c, 5,
                    19, 8, DType::float32);
      check_product(matmul(transpose_bits & 1, transpose_bits & 2, transpose_bits == 2), a, b, c,
                    70, 66, 40, DType::float32);
    }
  }
}

TEST_CASE("matmul of many small products", "[cpu][matmul]") {
  for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
    check_product(matmul(transpose_bits & 1, transpose_bits & 2, true, ActivationKind::tanh),
                  {50, 7}, {50, 7}, {50, 7}, 7, 19, 9, DType::float32);
  }
}

TEST_CASE("matmul of mixed precision", "[cpu][matmul]") {
  const int64_t sizes[][3] = {{1, 1, 1},      {1, 150, 700},  {33, 65, 70}, {40, 10, 2100},
                              {300, 129, 48}, {64, 40, 1100}, {64, 70, 288}};
  for (auto [m, n, k] : sizes) {
    for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
      for (int dtype_bits = 0; dtype_bits < 8; ++dtype_bits) {
        CAPTURE(m, n, k, transpose_bits, dtype_bits);
        auto dtype = [&](int bit) {
          return dtype_bits >> bit & 1 ? DType::float32 : DType::bfloat16;
        };
        Product op = matmul(transpose_bits & 1, transpose_bits & 2, true,
                            transpose_bits == 3 ? ActivationKind::relu : ActivationKind::none);
        op.mixed = dtype(2) == DType::float32 ? Mixed::to_float32 : Mixed::to_bfloat16;
        std::vector<Array> in = {random(matrix_shape({}, m, k, op.transpose_a), DType::bfloat16, 1),
                                 random(matrix_shape({}, k, n, op.transpose_b), DType::bfloat16, 2),
                                 random({n}, DType::bfloat16, 3)};
        Array wanted = expected_product(op, in, {m, n});
        in[0].spec.dtype = dtype(0), in[1].spec.dtype = dtype(1), wanted.spec.dtype = dtype(2);
        const int expected = (amx::available() ? 2 : 0) + (m == 1 && !op.transpose_b ? 2 : 0);
        CHECK(check(matmul_kernels, op.op(), in, {wanted}) == expected);
      }
    }
  }
}

TEST_CASE("matmul of mixed precision rounds what comes as float32", "[cpu][matmul]") {
  for (int64_t m : {1, 40}) {
    for (size_t rounded_operand : {0, 1}) {
      CAPTURE(m, rounded_operand);
      Product op = matmul(false, false);
      op.mixed = Mixed::to_float32;
      const int64_t n = 70, k = 288;
      std::vector<Array> in = {zeros({m, k}, DType::bfloat16), zeros({k, n}, DType::bfloat16)};
      for (Array& x : in) std::fill(x.values.begin(), x.values.end(), 1);
      const Array wanted{{DType::float32, {m, n}}, std::vector<double>(m * n, k)};
      in[rounded_operand].spec.dtype = DType::float32;
      for (double& x : in[rounded_operand].values) x += 0x1p-9;
      const int expected = (amx::available() ? 2 : 0) + (m == 1 ? 2 : 0);
      CHECK(check(matmul_kernels, op.op(), in, {wanted}) == expected);
    }
  }
}

TEST_CASE("matmul of empty operands", "[cpu][matmul]") {
  check_product(matmul(false, false, true, ActivationKind::sigmoid), {}, {}, {}, 3, 4, 0,
                DType::float32);
  check_product(matmul(false, false), {}, {}, {}, 0, 4, 3, DType::float32);
  check_product(matmul(false, false), {0}, {0}, {0}, 2, 4, 3, DType::float32);
}

TEST_CASE("matmul in every dtype it claims", "[cpu][matmul]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (DType dtype : {DType::float64, DType::bfloat16, DType::float16}) {
    CAPTURE(name_of(dtype));
    CHECK(check_product(matmul(false, false, true), {}, {}, {}, 3, 5, 7, dtype) >= 2);
    CHECK(check_product(matmul(false, true), {2}, {2}, {2}, 60, 70, 80, dtype) >= 2);
    CHECK(check_product(matmul(true, false), {}, {}, {}, 60, 70, 80, dtype) >= 2);
  }
  for (DType dtype : {DType::int32, DType::int64, DType::uint8}) {
    Product op = matmul(false, true, true);
    std::vector<Array> in = {random({5, 7}, dtype, 1, 0, 4), random({3, 7}, dtype, 2, 0, 4),
                             random({3}, dtype, 3, 0, 4)};
    CHECK(check(matmul_kernels, op.op(), in, {expected_product(op, in, {5, 3})}) >= 2);
  }
}

TEST_CASE("epilogues pass on what is not a number", "[cpu][matmul]") {
  for (auto e : {ActivationKind::relu, ActivationKind::sigmoid, ActivationKind::tanh}) {
    for (DType dtype : {DType::float32, DType::bfloat16}) {
      for (int64_t size : {4, 80}) {
        std::vector<Array> in = {random({size, size}, dtype, 1), random({size, size}, dtype, 2)};
        in[0].values[0] = std::nan("");
        const WithPostOps lowered = matmul(false, false, false, e).op();
        const TensorSpecs specs = {in[0].spec, in[1].spec};
        for (const auto& row : matmul_kernels()) {
          auto kernel = row.make({lowered, specs, {specs.data(), 1}, Options{}});
          if (!kernel) continue;
          const auto got = run(*kernel, in, {specs[0]}, 1).outputs[0];
          CAPTURE(kernel->name());
          CHECK((std::isnan(got[0]) && std::isnan(got[size - 1]) && !std::isnan(got[size])));
        }
      }
    }
  }
}

TEST_CASE("matmul of large float32 operands", "[cpu][matmul]") {
  const int64_t sizes[][3] = {{200, 260, 256}, {190, 250, 1100}, {500, 125, 64}, {96, 520, 128}};
  for (auto [m, n, k] : sizes) {
    Product op = matmul(false, false);
    const TensorSpecs specs = {
        {DType::float32, {m, k}}, {DType::float32, {k, n}}, {DType::float32, {m, n}}};
    CHECK((make_amx_matmul({op.op(), {specs.data(), 2}, {&specs[2], 1}, Options{}}) != nullptr) ==
          amx::has_tiles());
    for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
      op.transpose_a = transpose_bits & 1, op.transpose_b = transpose_bits & 2,
      op.has_bias = transpose_bits & 1;
      op.activation = transpose_bits == 1              ? ActivationKind::relu
                      : transpose_bits == 3 && k < 200 ? ActivationKind::tanh
                                                       : ActivationKind::none;
      op.combine = transpose_bits == 1   ? Combine::add
                   : transpose_bits == 2 ? Combine::mask
                                         : Combine::none;
      CAPTURE(m, n, k, transpose_bits);
      CHECK(check_product(op, {}, {}, {}, m, n, k, DType::float32) >= 2);
    }
  }
  CHECK(check_product(matmul(false, true), {3}, {}, {3}, 130, 140, 150, DType::float32) >= 2);
  CHECK(check_product(matmul(true, false), {3}, {3}, {3}, 190, 220, 100, DType::float32) >= 2);
}

TEST_CASE("more tiles for many threads change no bits", "[cpu][matmul]") {
  const auto [make, dtype] =
      GENERATE(table<KernelFactory, DType>({{make_tiled_matmul, DType::float32},
                                            {make_amx_matmul, DType::float32},
                                            {make_amx_matmul, DType::bfloat16}}));
  const int64_t sizes[][3] = {{128, 512, 784}, {130, 500, 300}, {300, 64, 2100}, {600, 10, 512}};
  for (const auto& [m, n, k] : sizes) {
    for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
      const Product op = matmul(transpose_bits & 1, transpose_bits & 2, true, ActivationKind::relu);
      const std::vector<Array> in = {random(matrix_shape({}, m, k, op.transpose_a), dtype, 1),
                                     random(matrix_shape({}, k, n, op.transpose_b), dtype, 2),
                                     random({n}, dtype, 3)};
      const TensorSpecs specs = {in[0].spec, in[1].spec, in[2].spec};
      const TensorSpec out{dtype, {m, n}};
      const WithPostOps lowered = op.op();
      const Options options;
      const Request request{lowered, specs, {&out, 1}, options};
      for (bool is_prepared : {false, true}) {
        auto kernel_for_few_threads = make(request), kernel_for_many_threads = make(request);
        // No kernel uses AMX here: the processor lacks it, or the product is too small for it.
        if (!kernel_for_few_threads) continue;
        CAPTURE(m, n, k, transpose_bits, is_prepared, kernel_for_few_threads->name());
        CHECK(run(*kernel_for_few_threads, in, {out}, 1, is_prepared).bits ==
              run(*kernel_for_many_threads, in, {out}, 9, is_prepared).bits);
      }
    }
  }
}

TEST_CASE("products are cut into more tiles for many threads", "[cpu][matmul]") {
  const TensorSpecs specs = {{DType::float32, {128, 784}}, {DType::float32, {784, 512}}};
  const TensorSpec out{DType::float32, {128, 512}};
  const MatmulPlan plan(Request{matmul(false, false).op(), specs, {&out, 1}, Options{}});
  const MatmulCut cut_for_few(plan, true), cut_for_many(plan, true, MatmulCut::ThreadCount::many);
  CHECK(cut_for_many.tiles() == 2 * cut_for_few.tiles());
  CHECK(cut_for_many.sums == cut_for_few.sums);
  for (const auto form : {amx::Form::rounded, amx::Form::split}) {
    const int64_t sizes[][3] = {{128, 784, 512},   {128, 512, 512},  {784, 128, 512},
                                {10240, 128, 128}, {4096, 512, 128}, {128, 4096, 128}};
    for (const auto& [m, k, n] : sizes) {
      CAPTURE(m, k, n);
      const TensorSpecs operands = {{DType::float32, {m, k}}, {DType::float32, {k, n}}};
      const TensorSpec result{DType::float32, {m, n}};
      const MatmulPlan shape(Request{matmul(false, false).op(), operands, {&result, 1}, Options{}});
      const AmxCut cut_for_few(shape, true, form, AmxCut::ThreadCount::few),
          cut_for_many(shape, true, form, AmxCut::ThreadCount::many);
      const int64_t part_count =
          cut_for_many.row_blocks * cut_for_many.column_blocks * cut_for_many.sums;
      CHECK(part_count >=
            12 * pieces(part_count, 16));  // at least 12 of 16 cores are busy at any time
      CHECK((cut_for_many.sums == cut_for_few.sums && cut_for_many.depth == cut_for_few.depth));
    }
  }
}

TEST_CASE("matmul knows infinities", "[cpu][matmul]") {
  for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
    for (bool has_activation : {false, true}) {
      Product op = matmul(transpose_bits & 1, transpose_bits & 2, true,
                          has_activation ? ActivationKind::tanh : ActivationKind::none);
      const int64_t m = 190, n = 220, k = 300;
      std::vector<Array> in = {random(matrix_shape({}, m, k, op.transpose_a), DType::float32, 1),
                               random(matrix_shape({}, k, n, op.transpose_b), DType::float32, 2),
                               random({n}, DType::float32, 3)};
      auto a = [&](int64_t i, int64_t q) -> double& {
        return in[0].values[static_cast<size_t>(op.transpose_a ? q * m + i : i * k + q)];
      };
      auto b = [&](int64_t q, int64_t j) -> double& {
        return in[1].values[static_cast<size_t>(op.transpose_b ? j * k + q : q * n + j)];
      };
      a(3, 290) = INFINITY, a(40, 5) = -INFINITY, a(20, 7) = std::bit_cast<float>(0xffffffffu),
           b(17, 99) = INFINITY, a(189, 17) = 0, a(5, 0) = 3e38, b(0, 2) = 3e38;
      const Array wanted = expected_product(op, in, {m, n});
      auto is_right = [&](double got, int64_t at) {
        const double want = static_cast<float>(wanted[at]);
        if (!std::isfinite(want)) return std::isnan(want) ? std::isnan(got) : got == want;
        double size = 1e-3;
        for (int64_t q = 0; q < k; ++q) size += std::abs(a(at / n, q) * b(q, at % n));
        return std::abs(got - want) <= 1e-6 * size;
      };
      const WithPostOps lowered = op.op();
      const TensorSpecs specs = {in[0].spec, in[1].spec, in[2].spec};
      for (const auto& row : matmul_kernels()) {
        for (bool is_prepared : {false, true}) {
          auto kernel = row.make({lowered, specs, {&wanted.spec, 1}, Options{}});
          if (!kernel) continue;
          CAPTURE(transpose_bits, has_activation, kernel->name(), is_prepared);
          const auto got = run(*kernel, in, {wanted.spec}, 2, is_prepared).outputs[0];
          int64_t wrong_count = 0;
          for (int64_t at = 0; at < m * n; ++at) wrong_count += !is_right(got[at], at);
          CHECK(wrong_count == 0);
        }
      }
    }
  }
}

TEST_CASE("matmul of half-width numbers knows infinities in the last terms", "[cpu][matmul]") {
  for (DType dtype : {DType::bfloat16, DType::float16})
    for (int64_t m : {1, 2, 5, 33})
      for (int64_t n : {49, 64, 129, 200})
        for (int64_t k : {1, 2, 3, 8, 33})
          for (int transpose_bits = 0; transpose_bits < 4; ++transpose_bits) {
            CAPTURE(name_of(dtype), m, n, k, transpose_bits);
            const Product op = matmul(transpose_bits & 1, transpose_bits & 2);
            std::vector<Array> in = {zeros(matrix_shape({}, m, k, op.transpose_a), dtype),
                                     zeros(matrix_shape({}, k, n, op.transpose_b), dtype)};
            for (Array& x : in) std::fill(x.values.begin(), x.values.end(), 1);
            in[0].values[static_cast<size_t>(op.transpose_a ? (k - 1) * m : k - 1)] = -INFINITY;
            Array wanted{{dtype, {m, n}}, std::vector<double>(m * n, k)};
            std::fill_n(wanted.values.begin(), n, -INFINITY);
            CHECK(check(matmul_kernels, op.op(), in, {wanted}) > 0);
          }
}

TEST_CASE("products of float32 are as exact on tiles as in vectors", "[cpu][matmul]") {
  if (!amx::has_tiles()) {
    WARN("skipped: no tiles on this processor");
    return;
  }
  const Options options;
  for (bool is_wide : {false, true}) {
    for (int64_t k : {64, 700, 3000}) {
      const int64_t m = 256, n = 256;
      std::vector<Array> in = {random({m, k}, DType::float32, 1),
                               random({k, n}, DType::float32, 2)};
      for (Array& x : in) {
        // If `is_wide` is true, the values differ by up to 17 orders of magnitude.
        for (double& v : x.values) v = is_wide ? static_cast<float>(v * std::exp(20 * v)) : v;
      }
      const Product op = matmul(false, false);
      const Array wanted = expected_product(op, in, {m, n});
      const WithPostOps lowered = op.op();
      std::vector<double> errors;
      for (KernelFactory make : {make_amx_matmul, make_tiled_matmul}) {
        const TensorSpecs specs = {in[0].spec, in[1].spec};
        auto kernel = make({lowered, specs, {&wanted.spec, 1}, options});
        REQUIRE(kernel);
        const auto got = run(*kernel, in, {wanted.spec}, 1).outputs[0];
        double squares = 0;
        for (int64_t i = 0; i < m * n; ++i) {
          double size = 0;
          for (int64_t q = 0; q < k; ++q)
            size += std::abs(in[0][i / n * k + q] * in[1][q * n + i % n]);
          squares += std::pow((got[i] - wanted[i]) / size, 2);
        }
        errors.push_back(std::sqrt(squares / static_cast<double>(m * n)));
      }
      CAPTURE(is_wide, k, errors[0], errors[1]);
      CHECK(errors[0] < 1.1 * errors[1]);
    }
  }
}
