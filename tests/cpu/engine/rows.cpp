// Programs that can be computed for a few rows of the batch at a time. They must be recognized,
// even where other axes are as long as the batch, and give the same results as for the whole batch.
#include "tiling/rows.h"

#include <catch2/catch.hpp>
#include <functional>

#include "crescent/device/lowered_ops.h"
#include "crescent/ops/ops.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu::test;
using cpu::SliceRole;

namespace {

constexpr int64_t kBatch = 4, kRows = 2;

using Body = std::function<Tensor(const Tensors&)>;

/// Inputs: a cube whose first axis is the batch, a square matrix whose first axis may be the batch,
/// and a vector of the same length.
Tensors operands() {
  return {sines({kBatch, kBatch, kBatch}, 1), sines({kBatch, kBatch}, 2), sines({kBatch}, 3)};
}

Program traced(const Body& body) {
  TensorSpecs specs;
  for (const Tensor& x : operands()) specs.push_back(x.spec());
  return trace([&](const Tensors& in) { return Tensors{body(in)}; }, specs);
}

/// Computes the results for a few rows at a time.
Tensor run_in_parts(const cpu::RowwiseProgram& rowwise) {
  const Program program = rowwise.of(kRows);
  Tensors results;
  for (int64_t first = 0; first < kBatch; first += kRows) {
    Tensors inputs = operands();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (rowwise.input(i) == SliceRole::rows)
        inputs[i] = ops::slice_axis(inputs[i], 0, first, first + kRows).clone();
    results.push_back(results_of(program, inputs)[0]);
  }
  return ops::concatenate(results, 0);
}

TensorSpec float32_spec(const Shape& shape) { return {DType::float32, shape}; }

}  // namespace

TEST_CASE("programs go by rows where no row sees another", "[cpu][rows]") {
  const Body bodies[] = {
      [](const Tensors& in) { return ops::tanh(in[0]) * in[0]; },
      [](const Tensors& in) { return ops::sum(in[0], {2}) + in[2]; },
      [](const Tensors& in) { return in[0] + in[1]; },
      [](const Tensors& in) {
        return ops::sum(in[0], {1, 2}) * 2;
      },
      [](const Tensors& in) { return ops::softmax(in[0], 1); },
      [](const Tensors& in) { return ops::matmul(ops::max(in[0], {1}), in[1]) + in[2]; },
      [](const Tensors& in) {
        return ops::transpose(in[0], {0, 2, 1});
      },
      [](const Tensors& in) {
        return ops::concatenate(Tensors{in[0], in[0] * 2}, 1);
      },
      [](const Tensors& in) { return ops::slice_axis(in[0], 1, 1, 3); },
      [](const Tensors& in) {
        return ops::pad(in[0], {0, 1, 0}, {0, 0, 2}, 0.5);
      },
      [](const Tensors& in) {
        return ops::reshape(in[0], {kBatch, -1});
      },
  };
  for (size_t i = 0; i < std::size(bodies); ++i) {
    CAPTURE(i);
    const Program program = traced(bodies[i]);
    const auto rowwise = cpu::as_rowwise(program, 1);
    REQUIRE(rowwise);
    CHECK(are_same(run_in_parts(*rowwise), results_of(program, operands())[0]));
  }
}

TEST_CASE("programs whose rows see one another do not go by rows", "[cpu][rows]") {
  const Body bodies[] = {
      [](const Tensors& in) { return ops::sum(in[0], {0}); },
      [](const Tensors& in) {
        return ops::sum(in[0], {0, 1});
      },
      [](const Tensors& in) {
        return ops::sum(in[0], {0, 2});
      },
      [](const Tensors& in) { return ops::softmax(in[0], 0); },
      [](const Tensors& in) {
        return ops::transpose(in[0], {1, 0, 2});
      },
      [](const Tensors& in) {
        return ops::transpose(in[0], {2, 1, 0});
      },
      [](const Tensors& in) {
        return ops::slice_axis(ops::concatenate(Tensors{in[0], in[0]}, 0), 0, 1, 1 + kBatch);
      },
      [](const Tensors& in) {
        return ops::slice_axis(ops::pad(in[0], {1, 0, 0}, {0, 0, 0}, 0), 0, 0, kBatch);
      },
      [](const Tensors& in) { return ops::matmul(in[1], ops::sum(in[0], {2})); },
      [](const Tensors& in) {
        return ops::matmul(ops::sum(in[0], {2}), ops::sum(in[0], {1}), true, false);
      },
      [](const Tensors& in) { return in[0] + ops::sum(in[0], {2}); },
      [](const Tensors& in) { return ops::expand_dims(ops::flip(in[0], {0}), 1); },
  };
  for (size_t i = 0; i < std::size(bodies); ++i) {
    CAPTURE(i);
    const Program program = traced(bodies[i]);
    CHECK_FALSE(cpu::as_rowwise(program, 1));
  }
}

TEST_CASE("what is broadcast along the batch is whole in a slice", "[cpu][rows]") {
  const TensorSpec images = float32_spec({6, 5, 7});
  Binary add;
  add.kind = BinaryKind::add;
  for (const Shape& shape : {Shape{1, 5, 7}, Shape{5, 7}, Shape{6, 7}, Shape{7}, Shape{}}) {
    CAPTURE(to_text(shape));
    const auto row_cut = cpu::cut_of(add, {images, float32_spec(shape)}, {images});
    REQUIRE(row_cut);
    CHECK(row_cut->inputs[0] == SliceRole::rows);
    CHECK(row_cut->inputs[1] == SliceRole::whole);
  }
}

TEST_CASE("an op of some rows says how many it makes", "[cpu][rows]") {
  ConvBackwardData input_gradient;
  input_gradient.input = {6, 9, 9, 3};
  const OpPtr op_of_fewer_rows =
      cpu::with_rows(std::make_shared<ConvBackwardData>(input_gradient), 2);
  CHECK(static_cast<const ConvBackwardData&>(*op_of_fewer_rows).input == Shape{2, 9, 9, 3});
  auto op_with_post_ops = std::make_shared<WithPostOps>();
  op_with_post_ops->op = std::make_shared<ConvBackwardData>(input_gradient);
  const OpPtr inner_op = static_cast<const WithPostOps&>(*cpu::with_rows(op_with_post_ops, 3)).op;
  CHECK(static_cast<const ConvBackwardData&>(*inner_op).input == Shape{3, 9, 9, 3});
}
