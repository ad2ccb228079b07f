// Passes over pooling and its gradient.
#include "crescent/program/gradient.h"
#include "passes.h"

namespace crescent::passes {

using namespace ops;

TEST_CASE("pooling: masks and sums are done on the small side of its gradient", "[passes]") {
  for (const bool has_overlap : {false, true}) {
    Program p = traced(
        [&](const Tensors& in) {
          GradientTape tape;
          tape.watch(in[0]), tape.watch(in[1]);
          const std::vector<int64_t> stride{has_overlap ? 1 : 2};
          const Tensor y = max_pool(relu(in[0] + in[1]), {2, 2}, stride,
                                    has_overlap ? Padding::same : Padding::valid);
          const Tensor loss = sum(square(y) * 0.5);
          const Tensors gradients = tape.gradient(loss, Tensors{in[0], in[1]});
          return Tensors{loss, gradients[0], gradients[1]};
        },
        {f32({2, 6, 6, 3}), f32({3})});
    Program q = rewritten(p, pooling, 1e-5);
    q = rewritten(q, common_subexpressions);
    CHECK(names(q).find("pool, ") ==
          names(q).rfind("pool, "));  // the gradient reuses the pooling of the forward pass
    for (const auto& i : q.code) {
      if (i.op->name() == "select")
        CHECK((has_overlap || q.values[size_t(i.outputs[0])].shape == Shape{2, 3, 3, 3}));
    }
    CHECK(q.code.back().op->name() != "select");
  }
  Program average_program = traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[1]);
        const Tensor y = average_pool(in[0] + in[1], {3, 3}, {2, 2}, Padding::same);
        return tape.gradient(sum(y * y), Tensors{in[1]});
      },
      {f32({2, 6, 6, 3}), f32({3})});
  while (algebra(average_program)) dead_code(average_program);
  CHECK(names(rewritten(average_program, pooling, 1e-5)).find("pool_backward") ==
        std::string::npos);
}

TEST_CASE("pooling: masks that are none of a relu before stay behind", "[passes]") {
  for (const bool is_max : {false, true})
    for (const bool masks_by_gradient : {false, true})
      for (const double bound : {0.0, 0.25}) {
        // Skipped, because the mask x > 0 of max pooling's input x is also the mask of a relu
        // before the pooling.
        if (is_max && !masks_by_gradient && bound == 0) continue;
        Program p = traced(
            [&](const Tensors& in) {
              GradientTape tape;
              tape.watch(in[0]);
              const Tensor y = is_max ? max_pool(in[0], {2, 2}, {1}, Padding::same)
                                      : average_pool(in[0], {2, 2}, {1}, Padding::same);
              const Tensor dx = tape.gradient(y, std::span(&in[0], 1), in[1])[0];
              return Tensors{where(greater(in[masks_by_gradient], bound), dx, 0)};
            },
            {f32({2, 6, 6, 3}), f32({2, 6, 6, 3})});
        dead_code(p);
        CHECK(names(rewritten(p, pooling)) == names(p));
      }
}

TEST_CASE("pooling: sums of its gradient along other axes see where it goes", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]);
        const Tensor y = max_pool(in[0], {2, 2}, {2}, Padding::valid);
        const Tensor dx = tape.gradient(y, std::span(&in[0], 1), in[1])[0];
        return Tensors{sum(dx, {0}), sum(dx, {3}), sum(dx, {0, 1, 2, 3})};
      },
      {f32({2, 6, 6, 3}), f32({2, 3, 3, 3})});
  rewritten(p, pooling, 1e-5);
}

TEST_CASE("pooling: winners are those of the pooling with the same strides", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        GradientTape first_tape, second_tape;
        first_tape.watch(in[0]), second_tape.watch(in[0]);
        const Tensor y = max_pool(in[0], {2, 2}, {2}, Padding::valid),
                     z = max_pool(in[0], {2, 2}, {1}, Padding::valid);
        return Tensors{first_tape.gradient(sum(y * y), Tensors{in[0]})[0],
                       second_tape.gradient(sum(z * z), Tensors{in[0]})[0]};
      },
      {f32({2, 6, 6, 3})});
  rewritten(p, pool_argmax);
}

TEST_CASE("pooling: windows of more elements than a byte can number keep none of them",
          "[passes]") {
  for (const int64_t size : {16, 17}) {
    const Program p = traced(
        [&](const Tensors& in) {
          GradientTape tape;
          tape.watch(in[0]);
          const Tensor y = max_pool(in[0], {size, size}, {size}, Padding::valid);
          return Tensors{y, tape.gradient(sum(y * y), Tensors{in[0]})[0]};
        },
        {f32({2, 2 * size, size, 2})});
    CHECK((names(rewritten(p, pool_argmax)).find("argmax") != std::string::npos) == (size == 16));
  }
}

TEST_CASE("pooling: its gradient goes to the winners, and a convolution takes it in", "[passes]") {
  for (const bool has_overlap : {false, true}) {
    const Program p = traced(
        [&](const Tensors& in) {
          GradientTape tape;
          tape.watch(in[0]);
          const Tensor y = max_pool(conv(in[0], in[1], {1}, Padding::valid), {2, 2},
                                    {has_overlap ? 1 : 2}, Padding::valid);
          return Tensors{y, tape.gradient(sum(y * y), Tensors{in[0]})[0]};
        },
        {f32({2, 7, 6, 3}), f32({3, 3, 3, 4})});
    Program q = rewritten(p, pool_argmax);
    CHECK(names(q).starts_with("conv, pool_argmax, "));
    CHECK(names(q).ends_with("pool_argmax_backward, conv_backward_data"));
    q = rewritten(q, pooled_convolutions);
    CHECK(names(q).starts_with("conv_pool, "));
    CHECK(names(q).find("conv, ") == std::string::npos);
  }
  const Program program_read_twice = traced(
      [](const Tensors& in) {
        const Tensor y = conv(in[0], in[1], {1}, Padding::valid);
        return Tensors{max_pool(y, {2, 2}, {2}, Padding::valid), sum(y)};
      },
      {f32({2, 7, 6, 3}), f32({3, 3, 3, 4})});
  CHECK(names(rewritten(program_read_twice, pooled_convolutions)).starts_with("conv, pool, "));
}

}  // namespace crescent::passes
