// Transposes, epilogues and scales of products and convolutions.
#include "crescent/program/gradient.h"
#include "passes.h"

namespace crescent::passes {

using namespace ops;

TEST_CASE("transposes become flags of the product", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        return Tensors{matmul(transpose(in[0]), in[1]), matmul(in[1], transpose(in[2]))};
      },
      {f32({4, 3}), f32({4, 5}), f32({2, 5})});
  Program q = rewritten(p, transposes);
  CHECK(names(q) == "matmul, matmul");
  CHECK(op<Matmul>(q, 0).transpose_a);
  CHECK_FALSE(op<Matmul>(q, 0).transpose_b);
  CHECK(op<Matmul>(q, 1).transpose_b);
}

TEST_CASE("transposes: a flag and a transpose cancel; batches; the result", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        return Tensors{matmul(swap_axes(in[0], 1, 2), in[1], true),
                       swap_axes(matmul(in[0], in[1]), -1, -2)};
      },
      {f32({2, 4, 3}), f32({2, 3, 5})});
  Program q = rewritten(p, transposes);
  CHECK(names(q) == "matmul, matmul");
  CHECK_FALSE(op<Matmul>(q, 0).transpose_a);
  CHECK(op<Matmul>(q, 1).transpose_a);
  CHECK(op<Matmul>(q, 1).transpose_b);
}

TEST_CASE("residuals: a convolution takes in what is added to it", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        auto layer = [&](const Tensor& x) { return conv(x, in[1], {1}, Padding::same) + in[2]; };
        const Tensor x = relu(layer(in[0]));
        return Tensors{relu(x + layer(x)), layer(in[0]) + layer(x)};
      },
      {f32({2, 7, 6, 4}), f32({3, 3, 4, 4}), f32({4})});
  Program q = rewritten(p, epilogues);
  q = rewritten(q, residuals, 1e-5);
  q = rewritten(q, epilogues, 1e-5);
  CHECK(names(q) == "conv+bias+relu, conv+bias+add+relu, conv+bias, conv+bias+add");
}

TEST_CASE("epilogues: bias and activation", "[passes]") {
  auto dense_layer = [](const Tensors& in) {
    return Tensors{relu(matmul(in[0], in[1]) + in[2]), tanh(matmul(in[0], in[1])),
                   sigmoid(reshape(in[2], {1, 5}) + matmul(in[0], in[1])),
                   exp(matmul(in[0], in[1]) + in[2])};
  };
  Program q = rewritten(traced(dense_layer, {f32({4, 3}), f32({3, 5}), f32({5})}), epilogues);
  CHECK(names(q) ==
        "matmul+bias+relu, matmul+tanh, reshape, reshape, matmul+bias+sigmoid, matmul+bias, exp");
}

TEST_CASE("epilogues: convolutions, and reshapes between", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor rows = reshape(matmul(reshape(in[0], {-1, 2}), in[2]), {3, 6, 6, 5});
        return Tensors{relu(conv(in[0], in[1], {1, 1}, Padding::same) + in[3]), relu(rows + in[3])};
      },
      {f32({3, 6, 6, 2}), f32({3, 3, 2, 5}), f32({2, 5}), f32({5})});
  Program q = rewritten(p, epilogues, 1e-5);
  CHECK(names(q).find(", relu") == std::string::npos);
  CHECK(names(q).find(", add") == std::string::npos);
}

TEST_CASE("epilogues: the mask of a relu behind the gradient of a convolution", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]);
        return tape.gradient(sum(square(conv(relu(in[0]), in[1], {1, 1}, Padding::same))),
                             Tensors{in[0]});
      },
      {f32({3, 6, 6, 2}), f32({3, 3, 2, 5})});
  Program q = rewritten(p, epilogues, 1e-5);
  CHECK(names(q).find("select") == std::string::npos);
  CHECK(names(q).ends_with("conv_backward_data+mask"));
}

TEST_CASE("epilogues: one activation, and what comes behind it", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        return Tensors{tanh(relu(matmul(in[0], in[1]))), relu(matmul(in[0], in[1])) + in[2]};
      },
      {f32({4, 3}), f32({3, 5}), f32({5})});
  CHECK(names(rewritten(p, epilogues)) == "matmul+relu, tanh, matmul+relu, add");
}

TEST_CASE("transposes of the axes before the matrices stay", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        return Tensors{matmul(transpose(in[0], {1, 0, 3, 2}), in[1]),
                       transpose(matmul(in[0], in[1]), {1, 0, 3, 2})};
      },
      {f32({2, 2, 4, 4}), f32({2, 2, 4, 4})});
  CHECK(names(rewritten(p, transposes)) == "transpose, matmul, matmul, transpose");
}

TEST_CASE("epilogues, batch norm: a column is nothing of channels", "[passes]") {
  const Variable kernel(Tensor::full({3, 4}, 0.5)), rows(numbers(f32({4, 1}), 7));
  const Program p = traced(
      [&](const Tensors& in) {
        return Tensors{matmul(in[0], kernel.value()) * rows.value(),
                       matmul(in[0], kernel.value()) + rows.value()};
      },
      {f32({4, 3})});
  CHECK(names(rewritten(p, batch_norm)) == "matmul, multiply, matmul, add");
  CHECK(names(rewritten(p, epilogues)) == "matmul, multiply, matmul, add");
}

TEST_CASE("epilogues: a mask is that of a relu alone", "[passes]") {
  using Mask = Tensor (*)(const Tensor& y, const Tensor& g);
  const Mask masks[] = {
      [](const Tensor& y, const Tensor& g) { return where(greater(y, 0.25), g, 0); },
      [](const Tensor& y, const Tensor& g) { return where(less(y, 0), g, 0); },
      [](const Tensor& y, const Tensor& g) { return where(greater(0, y), g, 0); },
      [](const Tensor& y, const Tensor& g) { return where(greater(y, 0), g, 1); },
      [](const Tensor& y, const Tensor& g) { return where(greater(y, 0), 0, g); }};
  for (const Mask mask_kind : masks) {
    Program p = traced(
        [&](const Tensors& in) {
          GradientTape tape;
          tape.watch(in[0]);
          const Tensor g = tape.gradient(sum(square(conv(in[0], in[1], {1, 1}, Padding::same))),
                                         Tensors{in[0]})[0];
          return Tensors{mask_kind(in[0], g), mask_kind(in[2], matmul(in[2], in[3]))};
        },
        {f32({3, 6, 6, 2}), f32({3, 3, 2, 5}), f32({7, 4}), f32({4, 4})});
    CHECK(names(rewritten(p, epilogues, 1e-5)).find("mask") == std::string::npos);
  }
}

TEST_CASE("epilogues: a bias of heads, and biases that are none of the product", "[passes]") {
  Program attention_heads = traced(
      [](const Tensors& in) {
        return Tensors{relu(reshape(matmul(in[0], in[1]), {3, 5, 2, 4}) + in[2])};
      },
      {f32({15, 6}), f32({6, 8}), f32({2, 4})});
  Program q = rewritten(attention_heads, epilogues, 1e-5);
  CHECK(names(q).find(", add") == std::string::npos);
  CHECK(names(q).find(", relu") == std::string::npos);
  Program other_program = traced(
      [](const Tensors& in) {
        return Tensors{reshape(matmul(in[0], in[1]), {3, 5, 2, 4}) + in[2],
                       reshape(matmul(in[0], in[1]), {3, 5, 2, 4}) + in[3],
                       reshape(matmul(in[0], in[1]), {3, 5, 2, 4}) + in[4]};
      },
      {f32({15, 6}), f32({6, 8}), f32({4}), f32({2, 1}), f32({5, 2, 4})});
  CHECK_FALSE(epilogues(other_program));
}

TEST_CASE("epilogues: residual connections and masks of relu", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor attention_heads = reshape(in[0], {2, 2, 5});
        return Tensors{relu(in[0] + (matmul(in[1], in[2]) + in[3])),
                       reshape(matmul(in[1], in[2]), {2, 2, 5}) + attention_heads,
                       where(greater(in[0], 0), matmul(in[1], in[2]), 0)};
      },
      {f32({4, 5}), f32({4, 3}), f32({3, 5}), f32({5})});
  Program q = rewritten(p, epilogues, 1e-5);
  CHECK(names(q) == "reshape, matmul+bias+add+relu, reshape, matmul+add, reshape, matmul+mask");
}

TEST_CASE("epilogues: a value that others need stays", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor x = matmul(in[0], in[1]), y = x + in[2];
        return Tensors{relu(y), y, exp(x)};
      },
      {f32({4, 3}), f32({3, 5}), f32({5})});
  CHECK(names(rewritten(p, epilogues)) == "matmul, add, relu, exp");
  Program wide_program = traced(
      [](const Tensors& in) {
        return Tensors{matmul(in[0], in[1]) + in[2], matmul(in[0], in[1]) + in[3]};
      },
      {f32({1, 3}), f32({3, 5}), f32({4, 5}), f32({1, 1})});
  CHECK(names(rewritten(wide_program, epilogues)) == "matmul, add, matmul, add");
}

namespace {

/// Batch normalization as the layer computes it.
Tensor normalized(const Tensor& x, const Tensors& v) {
  const Tensor factor = rsqrt(square(v[2]) + 1e-3) * v[0];
  return x * factor + (v[1] - v[3] * factor);
}

}  // namespace

TEST_CASE("batch norm goes into the kernel of the convolution before it", "[passes]") {
  for (bool has_bias : {false, true}) {
    Program p = traced(
        [&](const Tensors& in) {
          Tensor y = conv(in[0], in[1], {1, 1}, Padding::same);
          if (has_bias) y = y + in[6];
          return Tensors{relu(normalized(y, {in[2], in[3], in[4], in[5]}))};
        },
        {f32({2, 12, 12, 3}), f32({3, 3, 3, 4}), f32({4}), f32({4}), f32({4}), f32({4}), f32({4})});
    const Tensors expected_results = run(p);
    Program q = rewritten(p, batch_norm, 1e-5);
    q = rewritten(q, epilogues, 1e-5);
    for (const auto& i : q.code) {
      auto* product = dynamic_cast<const WithPostOps*>(i.op.get());
      CHECK((i.op->name() != "conv" && (!product || product->has(PostOp::bias))));
      if (!product) CHECK(q.values[size_t(i.outputs[0])].shape.size() <= 3 * 3 * 3 * 4);
    }
    check_same(expected_results, run(q), 1e-5);
  }
}

TEST_CASE("batch norm goes into a kernel of bfloat16", "[passes]") {
  const auto to_bfloat16 = [](const Tensor& x) { return cast(x, DType::bfloat16); };
  for (bool has_bias : {false, true}) {
    Program p = traced(
        [&](const Tensors& in) {
          Tensor y = conv(to_bfloat16(in[0]), to_bfloat16(in[1]), {1, 1}, Padding::same);
          if (has_bias) y = y + to_bfloat16(in[6]);
          return Tensors{
              relu(to_bfloat16(normalized(cast(y, DType::float32), {in[2], in[3], in[4], in[5]})))};
        },
        {f32({2, 12, 12, 3}), f32({3, 3, 3, 4}), f32({4}), f32({4}), f32({4}), f32({4}), f32({4})});
    Program q = rewritten(p, batch_norm, 5e-2);
    q = rewritten(q, epilogues, 1e-2);
    for (const auto& i : q.code) {
      const Shape& shape = q.values[size_t(i.outputs[0])].shape;
      auto* product = dynamic_cast<const WithPostOps*>(i.op.get());
      CHECK((product || i.op->name() == "cast" || shape.size() <= 3 * 3 * 3 * 4));
      CHECK((i.op->name() != "conv" && (!product || product->has(PostOp::relu))));
    }
  }
}

TEST_CASE("batch norm: transposed kernels, and a batch too small to pay", "[passes]") {
  auto f = [](const Tensors& in) {
    return Tensors{matmul(in[0], in[1], false, true) * in[2] + in[3]};
  };
  Program large_batch_program = traced(f, {f32({64, 3}), f32({5, 3}), f32({5}), f32({5})});
  CHECK(names(rewritten(large_batch_program, batch_norm, 1e-5)) ==
        "reshape, multiply, matmul, add");
  Program square_program = traced(f, {f32({64, 3}), f32({3, 3}), f32({3}), f32({3})});
  CHECK(names(rewritten(square_program, batch_norm, 1e-5)) == "reshape, multiply, matmul, add");
  Program small_batch_program = traced(f, {f32({2, 3}), f32({5, 3}), f32({5}), f32({5})});
  CHECK(names(rewritten(small_batch_program, batch_norm, 1e-5)) == "matmul, multiply, add");

  Variable kernel(Tensor::full({5, 3}, 0.5)), factor(Tensor::full({5}, 3));
  auto g = [&](const Tensors& in) {
    return Tensors{matmul(in[0], kernel.value(), false, true) * factor.value() + in[1]};
  };
  Program read_twice_program = traced(g, {f32({2, 3}), f32({5})});
  CHECK(names(rewritten(read_twice_program, batch_norm, 1e-5)) == "reshape, multiply, matmul, add");
}

TEST_CASE("batch norm: a kernel is not scaled where its product took something in", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        return Tensors{(matmul(in[0], in[1]) + in[2]) * in[2],
                       (conv(in[3], in[4], {1, 1}, Padding::same) + in[2]) * in[2]};
      },
      {f32({64, 3}), f32({3, 5}), f32({5}), f32({2, 12, 12, 3}), f32({3, 3, 3, 5})});
  const Program q = rewritten(p, epilogues, 1e-5);
  CHECK(names(q).find("conv+bias") != std::string::npos);
  CHECK(names(rewritten(q, batch_norm)) == names(q));
}

TEST_CASE("normalization: batch norm in training becomes elementwise work", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor y = conv(in[0], in[1], {1, 1}, Padding::same) + in[2];
        const BatchNormResult first = batch_norm_train(y, in[3], in[4], 1e-3),
                              second = batch_norm_train(first.y, in[4], in[3], 1e-3);
        return Tensors{second.y, first.mean, first.variance};
      },
      {f32({2, 12, 12, 3}), f32({3, 3, 3, 4}), f32({4}), f32({4}), f32({4})});
  while (epilogues(p)) dead_code(p);
  Program q = rewritten(p, normalization, 1e-4);
  CHECK(names(q) ==
        "conv+bias+moments, subtract, add, rsqrt, multiply, multiply, add, "
        "batch_moments, subtract, add, rsqrt, multiply, multiply, add");
}

TEST_CASE("normalization: two batch norms of one convolution", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        const Tensor y = conv(in[0], in[1], {1, 1}, Padding::same);
        return Tensors{batch_norm_train(y, in[2], in[3], 1e-3).y,
                       batch_norm_train(y, in[3], in[2], 0.1).y};
      },
      {f32({2, 9, 9, 3}), f32({3, 3, 3, 4}), f32({4}), f32({4})});
  rewritten(p, normalization, 1e-4);
}

TEST_CASE("normalization: only the whole sum of a channel's gradient is 0", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]);
        const Tensor y = batch_norm_train(in[0], in[1], in[2], 1e-3).y;
        const Tensor dx = tape.gradient(sum(y * y * in[3]), Tensors{in[0]})[0];
        return Tensors{sum(dx, {0}), sum(dx, {1, 2}), sum(dx, {3}), max(dx, {0, 1, 2})};
      },
      {f32({2, 4, 5, 3}), f32({3}), f32({3}), f32({2, 4, 5, 3})});
  rewritten(p, normalization, 1e-4);
}

TEST_CASE("normalization: a bias before batch norm has no gradient", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]), tape.watch(in[1]);
        const Tensor y = batch_norm_train(in[0] + in[1], in[2], in[3], 1e-3).y;
        return tape.gradient(sum(y * y * in[4]), Tensors{in[0], in[1]});
      },
      {f32({2, 6, 6, 3}), f32({3}), f32({3}), f32({3}), f32({2, 6, 6, 3})});
  while (algebra(p)) dead_code(p);
  Program q = rewritten(p, normalization, 1e-4);
  CHECK(names(q).find("reduce") == std::string::npos);
}

TEST_CASE("precision: products are rounded to what was asked for", "[passes]") {
  const DType half_dtype = DType::bfloat16;
  for (DType to : {DType::float16, DType::float64, DType::int32}) {
    const Program p = traced(
        [&](const Tensors& in) {
          const Tensor narrow_product = matmul(in[0], in[1]), rows = matmul(in[0], in[1]);
          return Tensors{cast(narrow_product, to), cast(reshape(rows, {4, 2, 5}), to)};
        },
        {{half_dtype, {8, 6}}, {half_dtype, {6, 5}}});
    CHECK(names(rewritten(p, precision)) == "matmul, matmul, cast, reshape, cast");
  }
}

TEST_CASE("precision: rows are added up in the wider dtype of two", "[passes]") {
  ScatterAdd op;
  op.size = 4;
  const DType dtypes[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16};
  for (DType from : dtypes) {
    for (DType to : dtypes) {
      if (from == to) continue;
      const Program p = traced(
          [&](const Tensors& in) {
            return Tensors{cast(apply1(op, {in[0], in[1]}), to)};
          },
          {{DType::int32, {700}}, {from, {700, 3}}});
      const bool is_widening = size_of(to) > size_of(from);
      const double tolerance = from == DType::bfloat16 ? 0.05 : 1e-2;
      CAPTURE(from, to);
      CHECK(names(rewritten(p, precision, tolerance)) ==
            (is_widening ? "cast, scatter_add" : "scatter_add, cast"));
    }
  }
}

TEST_CASE("precision: casts around products become part of them", "[passes]") {
  const DType half_dtype = DType::bfloat16, single = DType::float32;
  Program p = traced(
      [=](const Tensors& in) {
        const Tensor product =
            matmul(cast(in[0], half_dtype), reshape(cast(in[1], half_dtype), {6, 6}));
        return Tensors{cast(reshape(product, {2, 4, 6}), single)};
      },
      {f32({8, 6}), f32({6, 2, 3})});
  Program q = rewritten(p, precision, 2e-2);
  CHECK(names(q) == "reshape, matmul, reshape");
  CHECK(op<WithPostOps>(q, 1).mixed == Mixed::to_float32);

  Program narrow_program = rewritten(traced(
                                         [=](const Tensors& in) {
                                           const Tensor y = matmul(in[0], cast(in[1], half_dtype));
                                           return Tensors{y, cast(y, single)};
                                         },
                                         {{half_dtype, {8, 6}}, f32({6, 5})}),
                                     precision);
  CHECK(names(narrow_program) == "matmul, cast");  // the rounded result is also an output
  CHECK(op<WithPostOps>(narrow_program, 0).mixed == Mixed::to_bfloat16);

  Program gradient = rewritten(
      traced(
          [=](const Tensors& in) {
            GradientTape tape;
            tape.watch(in[1]);
            const Tensor loss =
                sum(cast(conv(in[0], cast(in[1], half_dtype), {1, 1}, Padding::valid), single));
            return tape.gradient(loss, Tensors{in[1]});
          },
          {{half_dtype, {2, 5, 5, 3}}, f32({3, 3, 3, 4})}),
      precision, 2e-2);
  CHECK(op<WithPostOps>(gradient, gradient.code.size() - 1).mixed == Mixed::to_float32);

  Program gathered_rows_program =
      rewritten(traced(
                    [=](const Tensors& in) {
                      GradientTape tape;
                      tape.watch(in[0]);
                      const Tensor y = apply1(Gather(), {cast(in[0], half_dtype), in[1]});
                      return Tensors{y, tape.gradient(sum(cast(y, single)), Tensors{in[0]})[0]};
                    },
                    {f32({50, 3}), {DType::int32, {4}}}),
                precision, 2e-2);
  // The rows are gathered before the product.
  CHECK(gathered_rows_program.values[size_t(gathered_rows_program.code[0].outputs[0])].shape ==
        Shape{4, 3});
  CHECK(gathered_rows_program.code.back().op->name() == "scatter_add");
  CHECK(gathered_rows_program.values[size_t(gathered_rows_program.outputs[1])].dtype == single);
}

}  // namespace crescent::passes
