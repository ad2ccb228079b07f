// Losses over many classes, computed in chunks of rows: the numbers stay the same, and no
// intermediate value has all rows and all classes.
#include <algorithm>

#include "crescent/program/gradient.h"
#include "program/passes.h"

namespace crescent::passes {
namespace {

constexpr int64_t kMaxChunkBytes = 2048;  ///< the bytes of a chunk in these tests
bool chunk_losses(Program& program) { return chunked_losses(program, kMaxChunkBytes); }

struct OutputLayer {
  Shape rows{24};  ///< the axes of the logits before that of the classes
  int64_t width = 5, classes = 70;
  bool has_sparse_labels = true, has_bias = true, is_tied = false, has_metric = false,
       has_weights = false;
  DType dtype = DType::float32, loss_dtype = DType::float32;

  TensorSpecs specs() const {
    const Shape weights = is_tied ? Shape{classes, width} : Shape{width, classes};
    const TensorSpec labels = has_sparse_labels
                                  ? TensorSpec{DType::int32, rows}
                                  : TensorSpec{DType::float32, rows.concat({classes})};
    return {{dtype, rows.concat({width})}, {dtype, weights}, {dtype, {classes}}, labels, f32(rows)};
  }

  /// The losses, their mean, its gradients and, for a metric, the most likely classes.
  Tensors step(const Tensors& in) const {
    GradientTape tape;
    for (size_t i = 0; i < 3; ++i) tape.watch(in[i]);
    Tensor logits = ops::matmul(in[0], is_tied ? ops::transpose(in[1]) : in[1]);
    if (has_bias) logits = logits + in[2];
    const Tensor y = ops::cast(logits, loss_dtype);
    Tensor losses = has_sparse_labels
                        ? ops::sparse_softmax_cross_entropy(y, ops::mod(in[3], classes))
                        : ops::softmax_cross_entropy(y, ops::softmax(in[3]));
    if (has_weights) losses = losses * in[4];
    const Tensor loss = ops::mean(losses);
    Tensors results = tape.gradient(loss, Tensors{in[0], in[1], in[2]});
    if (!has_bias) results.pop_back();
    results.push_back(losses);
    results.push_back(loss);
    if (has_metric) results.push_back(ops::argmax(logits, -1));
    return results;
  }

  Program program() const {
    return optimize_without_chunks(traced([this](const Tensors& in) { return step(in); }, specs()));
  }

 private:
  /// Applies the passes that precede the pass under test, but not that pass.
  static Program optimize_without_chunks(Program program) {
    while (shapes(program) || transposes(program)) dead_code(program);
    dead_code(program);
    return program;
  }
};

/// A generator of pseudo-random numbers.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint32_t seed) : state_(seed) {}
  int64_t below(int64_t end) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % end;
  }

 private:
  uint32_t state_;
};

int64_t largest_bytes(const Program& program) {
  int64_t result = 0;
  for (const auto& i : program.code)
    for (int value : i.outputs) {
      const TensorSpec& spec = program.values[static_cast<size_t>(value)];
      result = std::max(result, spec.bytes());
    }
  return result;
}

int64_t op_count(const Program& program, std::string_view op) {
  return std::count_if(program.code.begin(), program.code.end(),
                       [&](const Program::Instruction& i) { return i.op->name() == op; });
}

/// Checks that the losses are computed in chunks, and that no chunk is larger than necessary.
void check_chunked(const OutputLayer& output_layer, double tolerance = 1e-6) {
  const Program plain_program = output_layer.program(),
                chunked_program = rewritten(plain_program, chunk_losses, tolerance);
  CHECK(op_count(plain_program, "softmax_cross_entropy") == 1);
  CHECK(op_count(chunked_program, "softmax_cross_entropy") > 1);
  CHECK(op_count(chunked_program, "softmax_cross_entropy_backward") ==
        op_count(chunked_program, "softmax_cross_entropy"));
  const int64_t row_bytes = output_layer.classes * 4, weight_bytes = output_layer.width * row_bytes;
  CHECK(largest_bytes(chunked_program) <=
        std::max({kMaxChunkBytes + row_bytes, weight_bytes,
                  output_layer.rows.size() * output_layer.width * 4}));
}

}  // namespace

TEST_CASE("losses in chunks of rows equal those of all rows") {
  for (int64_t rows : {8, 9, 15, 16, 17, 24, 31, 100})
    for (bool has_sparse_labels : {true, false})
      check_chunked({.rows = {rows}, .has_sparse_labels = has_sparse_labels});
}

TEST_CASE("losses in chunks of samples of several steps equal those of all") {
  for (const Shape& rows : {Shape{3, 7}, Shape{8, 2}, Shape{16, 5}, Shape{1, 30}, Shape{1, 1, 30},
                            Shape{2, 30}, Shape{3, 50}, Shape{2, 3, 20}})
    check_chunked({.rows = rows});
}

TEST_CASE("chunks take part in biases, shared weights, metrics and weights of samples") {
  check_chunked({.has_bias = false});
  check_chunked({.is_tied = true});
  check_chunked({.has_metric = true});
  check_chunked({.has_weights = true});
  check_chunked({.is_tied = true, .has_metric = true, .has_weights = true});
}

TEST_CASE("random losses in chunks equal those of all rows") {
  RandomNumbers random(11);
  for (int i = 0; i < 150; ++i) {
    OutputLayer output_layer{.rows = {}};
    for (int64_t axes = random.below(3); axes >= 0; --axes)
      output_layer.rows.append(1 + random.below(axes == 0 ? 40 : 4));
    output_layer.width = 1 + random.below(20);
    output_layer.classes = output_layer.width + 20 + random.below(300);
    for (bool* is_enabled :
         {&output_layer.has_sparse_labels, &output_layer.has_bias, &output_layer.is_tied,
          &output_layer.has_metric, &output_layer.has_weights})
      *is_enabled = random.below(2) == 1;
    INFO("rows " << to_text(output_layer.rows) << ", width " << output_layer.width << ", classes "
                 << output_layer.classes);
    rewritten(output_layer.program(), chunk_losses);
  }
}

TEST_CASE("losses of half width are chunked with sums in float32") {
  OutputLayer output_layer{.rows = {200}, .width = 7, .dtype = DType::bfloat16};
  check_chunked(output_layer, 0.02);
  const Program chunked_program = rewritten(output_layer.program(), chunk_losses, 0.02);
  const Shape weights{output_layer.width, output_layer.classes};
  for (const auto& i : chunked_program.code) {
    const TensorSpec& result = chunked_program.values[static_cast<size_t>(i.outputs[0])];
    if (i.op->name() == Binary::kName && result.shape == weights)
      CHECK(result.dtype == DType::float32);
  }
}

TEST_CASE("a loss alone, without gradients, is chunked too") {
  const Program plain_program = traced(
      [](const Tensors& in) {
        return Tensors{ops::sparse_softmax_cross_entropy(ops::matmul(in[0], in[1]),
                                                         ops::mod(in[2], int64_t{70}))};
      },
      {f32({24, 5}), f32({5, 70}), {DType::int32, {24}}});
  CHECK(op_count(rewritten(plain_program, chunk_losses), "softmax_cross_entropy") == 4);
}

TEST_CASE("an axis along which an operand varies is not cut") {
  const Program plain_program = traced(
      [](const Tensors& in) {
        return Tensors{ops::sparse_softmax_cross_entropy(ops::matmul(in[0], in[1]) + in[2],
                                                         ops::mod(in[3], int64_t{70}))};
      },
      {f32({2, 30, 5}), f32({5, 70}), f32({30, 70}), {DType::int32, {2, 30}}});
  CHECK(op_count(rewritten(plain_program, chunk_losses), "softmax_cross_entropy") == 2);
}

TEST_CASE("losses whose rows depend on each other are not chunked") {
  const auto stays_unchunked =
      [](const std::function<Tensors(const Tensor& logits, const Tensor& losses, GradientTape& tape,
                                     const Tensor& x)>& use_of_losses) {
        Program program = traced(
            [&](const Tensors& in) {
              GradientTape tape;
              tape.watch(in[0]);
              const Tensor logits = ops::matmul(in[0], in[1]);
              const Tensor labels = ops::mod(in[2], int64_t{70});
              return use_of_losses(logits, ops::sparse_softmax_cross_entropy(logits, labels), tape,
                                   in[0]);
            },
            {f32({24, 5}), f32({5, 70}), {DType::int32, {24}}});
        return !chunk_losses(program);
      };
  const auto gradient = [](GradientTape& tape, const Tensor& loss, const Tensor& x) {
    return tape.gradient(loss, Tensors{x})[0];
  };
  using T = const Tensor&;
  CHECK_FALSE(stays_unchunked([&](T, T losses, GradientTape& tape, T x) {
    return Tensors{gradient(tape, ops::mean(losses), x)};
  }));
  // The losses are not chunked where the logits are a result or are read along the rows, or where
  // the gradient depends on all losses.
  CHECK(stays_unchunked([&](T logits, T losses, GradientTape&, T) {
    return Tensors{logits, losses};
  }));
  CHECK(stays_unchunked([&](T logits, T losses, GradientTape&, T) {
    return Tensors{ops::cumsum(logits, 0), losses};
  }));
  CHECK(stays_unchunked([&](T logits, T losses, GradientTape&, T) {
    return Tensors{ops::max(logits, {0}), losses};
  }));
  CHECK(stays_unchunked([&](T, T losses, GradientTape& tape, T x) {
    return Tensors{gradient(tape, ops::square(ops::mean(losses)), x)};
  }));
}

TEST_CASE("a loss over many classes needs little more memory for more rows") {
  const auto arena_bytes_for = [](int64_t rows, bool has_chunks) {
    const OutputLayer output_layer{
        .rows = {4, rows}, .width = 64, .classes = 2000, .has_bias = false};
    Program program = output_layer.program();
    if (has_chunks) chunked_losses(program, 64 << 10);
    return compile(crescent::optimize(program))->arena_bytes();
  };
  CHECK(arena_bytes_for(64, true) * 2 < arena_bytes_for(64, false));
  CHECK(arena_bytes_for(256, true) < 2 * arena_bytes_for(64, true));
}

TEST_CASE("small losses are not chunked") {
  Program program = OutputLayer{.rows = {7}}.program();
  CHECK_FALSE(chunk_losses(program));
}

}  // namespace crescent::passes
