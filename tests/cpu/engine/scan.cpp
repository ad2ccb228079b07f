// Scans that process parts of the batch separately must give the same numbers as for the whole
// batch.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>

#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "support.h"
#include "tiling/rows.h"

using namespace crescent;
using namespace crescent::cpu::test;

namespace {

constexpr int64_t kSteps = 5, kUnits = 48;

/// A step of a scan with the state h (b, u), the inputs x (b, u) and mask (b,), and the captured
/// values `captured`: a matrix (u, u), factors (b, u) and a bias (u).
using Step = Tensor (*)(const Tensor& h, const Tensor& x, const Tensor& mask,
                        const Tensors& captured);

Tensor simple_step(const Tensor& h, const Tensor& x, const Tensor&, const Tensors& captured) {
  return ops::tanh(ops::matmul(h * captured[1], captured[0]) + x + captured[2]);
}
Tensor masked_step(const Tensor& h, const Tensor& x, const Tensor& mask, const Tensors& captured) {
  const Tensor next = ops::softmax(ops::matmul(h, captured[0], false, true) - x, -1);
  return ops::where(ops::greater(ops::expand_dims(mask, 1), 0.0), next, h);
}
Tensor step_in_pieces(const Tensor& h, const Tensor& x, const Tensor&, const Tensors& captured) {
  const Tensor left_half = ops::slice_axis(h, 1, 0, kUnits / 2),
               right_half = ops::slice_axis(x, 1, kUnits / 2, kUnits);
  const Tensor rows =
      ops::reshape(ops::concatenate(Tensors{right_half, left_half}, 1), {h.dim(0), 2, -1});
  return ops::reshape(ops::transpose(rows, {0, 2, 1}), h.shape()) * ops::matmul(h, captured[0]) +
         ops::mean(x, {1}, true);
}
/// A step in which the rows of the batch depend on each other.
Tensor batch_mean_step(const Tensor& h, const Tensor& x, const Tensor&, const Tensors& captured) {
  return ops::tanh(ops::matmul(h - ops::mean(h, {0}, true), captured[0]) + x);
}
Tensor weighting_step(const Tensor& h, const Tensor& x, const Tensor&, const Tensors& captured) {
  return ops::tanh(ops::matmul(ops::softmax(h, 0), captured[0]) + x);
}
Tensor centering_step(const Tensor& h, const Tensor& x, const Tensor&, const Tensors& captured) {
  return ops::tanh(ops::matmul(h - ops::mean(h, {0, 1}, true), captured[0]) + x);
}
Tensor concatenating_step(const Tensor& h, const Tensor& x, const Tensor&,
                          const Tensors& captured) {
  const int64_t batch = h.dim(0);
  const Tensor rows_of_both = ops::concatenate(Tensors{h, x}, 0);
  return ops::tanh(
      ops::matmul(ops::slice_axis(rows_of_both, 0, batch / 2, batch / 2 + batch), captured[0]));
}

Tensors operands(int64_t batch) {
  return {sines({kSteps, batch, kUnits}, 1), sines({kSteps, batch}, 2), sines({batch, kUnits}, 3),
          sines({kUnits, kUnits}, 4),        sines({batch, kUnits}, 5), sines({kUnits}, 6)};
}

/// A program with a reverse scan; its outputs are the last state, and twice the state after every
/// step.
Program scan_program(Step step, const Tensors& inputs) {
  return lowered(
      [&](const Tensors& in) {
        const Tensors captured(in.begin() + 3, in.end());
        const auto r = ops::scan(
            [&](const Tensors& states, const Tensors& step_inputs) -> ops::ScanResult {
              const Tensor h = step(states[0], step_inputs[0], step_inputs[1], captured);
              return {{h}, {h * 2.0}};
            },
            {in[2]}, {in[0], in[1]}, true);
        return Tensors{r.states[0], r.outputs[0]};
      },
      inputs);
}

/// Runs the program on other inputs first, which must not influence the results for `inputs`.
Tensors run(const Program& program, const Tensors& inputs, int threads,
            int64_t* part_count = nullptr) {
  test_device().set_threads(threads);
  auto executable = test_device().compile(program);
  Tensors outputs = outputs_of(program);
  executable->profile(part_count != nullptr);
  Tensors other_inputs;
  for (const Tensor& x : inputs) other_inputs.push_back(x * -0.5);
  for (const Tensors& in : {other_inputs, inputs}) executable->run(in, {}, outputs);
  for (const ProfileEntry& row : executable->rows()) {
    if (part_count && row.op.find("scan") != std::string::npos) *part_count = row.parts;
  }
  test_device().set_threads(0);
  return outputs;
}

/// The state after every step, where each step is run as a separate program.
Tensors step_by_step(Step step, Tensors in) {
  Tensors states;
  for (int64_t t = kSteps; t-- > 0;) {
    auto element_of_step = [&](const Tensor& x) {
      return ops::squeeze(ops::slice_axis(x, 0, t, t + 1), 0);
    };
    Tensors inputs{in[2], element_of_step(in[0]), element_of_step(in[1]), in[3], in[4], in[5]};
    const Program program = lowered(
        [&](const Tensors& x) {
          return Tensors{step(x[0], x[1], x[2], {x[3], x[4], x[5]})};
        },
        inputs);
    states.push_back(in[2] = run(program, inputs, 1)[0]);
  }
  return states;
}

double distance(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

}  // namespace

TEST_CASE("parts of the batch go through time on their own", "[cpu][scan]") {
  const auto [step, is_divided] = GENERATE(table<Step, bool>({{simple_step, true},
                                                              {masked_step, true},
                                                              {step_in_pieces, true},
                                                              {batch_mean_step, false},
                                                              {weighting_step, false},
                                                              {centering_step, false},
                                                              {concatenating_step, false}}));
  for (const int64_t batch : {8, 24, 30, 128, 130}) {
    CAPTURE(batch);
    const Tensors inputs = operands(batch);
    const Program program = scan_program(step, inputs);
    int64_t part_count = 0;
    const Tensors got = run(program, inputs, 1, &part_count);
    if (is_divided && batch >= 128) CHECK(part_count >= 14);
    if (!is_divided || batch == 8) CHECK(part_count == 1);
    const Tensors states = step_by_step(step, inputs);
    CHECK(distance(got[0], states.back()) < 1e-5);
    for (int64_t t = 0; t < kSteps; ++t) {
      const Tensor step_output = ops::squeeze(ops::slice_axis(got[1], 0, t, t + 1), 0);
      CHECK(distance(step_output, ops::multiply(states[static_cast<size_t>(kSteps - 1 - t)], 2.0)) <
            2e-5);
    }
    for (const int threads : {2, 3, 9}) {
      const Tensors on_threads = run(program, inputs, threads);
      CHECK(are_same(got[0], on_threads[0]));
      CHECK(are_same(got[1], on_threads[1]));
    }
  }
}
