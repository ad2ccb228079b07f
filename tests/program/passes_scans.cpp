// Scans over time: optimization of their bodies, and instructions that are moved out of them.
#include "crescent/program/gradient.h"
#include "passes.h"

namespace crescent::passes {

using namespace ops;

namespace {

std::vector<const Scan*> scans_of(const Program& program) {
  std::vector<const Scan*> scans;
  for (const auto& i : program.code) {
    if (auto* scan = dynamic_cast<const Scan*>(i.op.get())) scans.push_back(scan);
  }
  return scans;
}

/// tanh(x w + h u + b), where the recurrent matrix is transposed and scaled inside the step.
Tensors recurrent_outputs(const Tensors& in, bool reverse = false) {
  auto body = [&](const Tensors& states, const Tensors& step) {
    const Tensor x = matmul(step[0], in[2]), matrix = transpose(in[3]) * 0.5;
    const Tensor h = tanh(x + matmul(states[0], matrix) + in[4]);
    return ScanResult{{h}, {exp(h) - h}};
  };
  const ScanResult r = scan(body, {in[1]}, {in[0]}, reverse);
  return {r.states[0], r.outputs[0]};
}

const TensorSpecs kSpecs{f32({5, 2, 3}), f32({2, 4}), f32({3, 4}), f32({4, 4}), f32({4})};

}  // namespace

TEST_CASE("scans: bodies are optimised", "[passes]") {
  const Program original_program =
      traced([](const Tensors& in) { return recurrent_outputs(in); }, kSpecs);
  const Program optimized_program = optimize(original_program);
  validate(optimized_program);
  check_same(run(original_program), run(optimized_program), 1e-6);
  REQUIRE(scans_of(optimized_program).size() == 1);
  validate(*scans_of(optimized_program)[0]->body);
  CHECK(names(*scans_of(optimized_program)[0]->body) == "matmul+bias+add+tanh, fused");
}

namespace {

/// Changes a program, whose only instruction is a scan, so that the scan stores its states after
/// every step. The stored values of state number `kept_state` become an output of the program.
Program with_kept_states(Program program, size_t kept_state) {
  Program::Instruction& scan_instruction = program.code.at(0);
  auto scan = std::make_shared<Scan>(dynamic_cast<const Scan&>(*scan_instruction.op));
  scan->keep_states = true;
  const TensorSpecs output_specs = scan->infer(program.specs_of(scan_instruction.inputs));
  const size_t first = scan_instruction.outputs.size();
  for (size_t o = first; o < output_specs.size(); ++o)
    scan_instruction.outputs.push_back(program.add_value(output_specs[o]));
  scan_instruction.op = scan;
  program.outputs.push_back(scan_instruction.outputs.at(first + kept_state));
  return program;
}

}  // namespace

TEST_CASE("scans, sinking: states that somebody looks back at are kept", "[passes]") {
  for (const size_t kept_state : {0, 1}) {
    const Program p = with_kept_states(
        traced(
            [](const Tensors& in) {
              const ScanResult r = scan(
                  [](const Tensors& states, const Tensors& step) -> ScanResult {
                    return {{states[0] + matmul(step[0], step[0], true), tanh(states[1] + step[0])},
                            {}};
                  },
                  {in[1], in[2]}, {in[0]});
              return Tensors{r.states[0], r.states[1]};
            },
            {f32({5, 3, 3}), f32({3, 3}), f32({3, 3})}),
        kept_state);
    const Tensors expected_results = run(p);
    Program q = p;
    passes::scans(q, false, {});
    validate(q);
    check_same(expected_results, run(q), 1e-5);
    rewritten(p, sinking, 1e-5);
  }
}

TEST_CASE("hoisting: a product with a transposed step stays in the loop", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        const ScanResult r = scan(
            [&](const Tensors& states, const Tensors& step) -> ScanResult {
              return {{tanh(states[0] + matmul(step[0], in[2], true))}, {}};
            },
            {in[1]}, {in[0]});
        return Tensors{r.states[0]};
      },
      {f32({5, 3, 3}), f32({3, 3}), f32({3, 3})});
  CHECK(names(rewritten(p, hoisting)) == "scan");
}

TEST_CASE("hoisting: products with the steps' inputs, and what never changes", "[passes]") {
  for (const bool reverse : {false, true}) {
    Program p = traced([&](const Tensors& in) { return recurrent_outputs(in, reverse); }, kSpecs);
    Program q = rewritten(p, hoisting);
    REQUIRE(scans_of(q).size() == 1);
    const Scan& loop = *scans_of(q)[0];
    validate(*loop.body);
    CHECK(names(*loop.body) == "matmul, add, add, tanh, exp, subtract");
    CHECK(loop.sequences == 2);
    CHECK(names(q) == "reshape, matmul, reshape, transpose, multiply, scan");
  }
}

TEST_CASE("hoisting: gradients, draws and results that never change", "[passes]") {
  const Program gradient = traced(
      [](const Tensors& in) {
        GradientTape tape;
        for (const Tensor& x : in) tape.watch(x);
        const Tensors y = recurrent_outputs(in);
        return tape.gradient(sum(square(y[0])) + sum(y[1]), in);
      },
      kSpecs);
  const Program optimized_program = optimize(gradient);
  validate(optimized_program);
  check_same(run(gradient), run(optimized_program), 1e-5);

  Random draw_op;
  draw_op.shape = {2, 4};
  Program other_program = traced(
      [&](const Tensors& in) {
        const Tensor state = cast(reshape(in[4], {2, 2}), DType::int64);
        auto body = [&](const Tensors& states, const Tensors& step) {
          const Tensor random_numbers = apply1(draw_op, {sum(state, {0})});
          return ScanResult{{states[0] + random_numbers + step[0]}, {square(in[1]), step[0]}};
        };
        const ScanResult r = scan(body, {in[1]}, {in[0]});
        return Tensors{r.states[0], r.outputs[0], r.outputs[1]};
      },
      {f32({5, 2, 4}), f32({2, 4}), f32({3, 4}), f32({4, 4}), f32({4})});
  Program q = rewritten(other_program, hoisting);
  CHECK(names(*scans_of(q)[0]->body) == "random, add, add");
}

namespace {

/// A function for the term that a step adds to a sum, from its state, its input and a matrix.
using AddedTerm = Tensor (*)(const Tensor& h, const Tensor& x, const Tensor& matrix);

Program sum_over_steps(AddedTerm added_term, const Shape& sum, bool reverse) {
  return traced(
      [&](const Tensors& in) {
        auto body = [&](const Tensors& states, const Tensors& step) {
          const Tensor h = tanh(matmul(states[0], in[2]) + step[0]);
          return ScanResult{{h, states[1] + added_term(h, step[0], in[2])}, {}};
        };
        return scan(body, {in[1], in[3]}, {in[0]}, reverse).states;
      },
      {f32({5, 2, 4}), f32({2, 4}), f32({4, 4}), f32(sum)});
}

}  // namespace

TEST_CASE("sinking: sums over the steps are made behind the loop", "[passes]") {
  struct SunkSum {
    const char* description;
    AddedTerm added_term;
    Shape sum;
    const char* expected_names;
  };
  const SunkSum rows[] = {
      {"a product of rows",
       [](auto& h, auto& x, auto&) { return matmul(x, h, true); },
       {4, 4},
       "scan, reshape, reshape, matmul, add"},
      {"columns",
       [](auto& h, auto&, auto&) { return sum(h, {0}); },
       {4},
       "scan, reduce, reshape, add"},
      {"parts of a whole",
       [](auto& h, auto& x, auto&) {
         return pad(matmul(x, h, true), {0, 4}, {0, 0}) + pad(matmul(h, h, true), {0, 0}, {0, 4});
       },
       {4, 8},
       "scan, reshape, reshape, matmul, pad, reshape, reshape, matmul, pad, add, add"},
      {"a state of its own",
       [](auto& h, auto&, auto& matrix) { return matmul(h, matrix); },
       {2, 4},
       "scan"},
      {"no sum of products",
       [](auto& h, auto& x, auto&) { return square(matmul(x, h, true)); },
       {4, 4},
       "scan"},
  };
  for (const SunkSum& sum_case : rows) {
    INFO(sum_case.description);
    for (const bool reverse : {false, true}) {
      const Program rewritten_program =
          rewritten(sum_over_steps(sum_case.added_term, sum_case.sum, reverse), sinking, 1e-5);
      CHECK(names(rewritten_program) == sum_case.expected_names);
      CHECK(scans_of(rewritten_program)[0]->states ==
            (std::string(sum_case.expected_names) == "scan" ? 2 : 1));
    }
  }
}

TEST_CASE("sinking: a sum that the steps read stays with them", "[passes]") {
  for (const bool reverse : {false, true}) {
    const Program rewritten_program = rewritten(
        traced(
            [&](const Tensors& in) {
              auto body = [&](const Tensors& states, const Tensors& step) {
                const Tensor h = tanh(matmul(states[0], in[2]) + step[0]);
                return ScanResult{{h, states[1] + matmul(step[0], h, true)}, {square(states[1])}};
              };
              const ScanResult r = scan(body, {in[1], in[3]}, {in[0]}, reverse);
              return Tensors{r.states[0], r.states[1], r.outputs[0]};
            },
            {f32({5, 2, 4}), f32({2, 4}), f32({4, 4}), f32({4, 4})}),
        sinking);
    CHECK(names(rewritten_program) == "scan");
    CHECK(scans_of(rewritten_program)[0]->states == 2);
  }
}

TEST_CASE("sinking: products with a matrix that only the result wants", "[passes]") {
  for (const bool is_read : {false, true}) {
    const Program rewritten_program = rewritten(
        traced(
            [&](const Tensors& in) {
              auto body = [&](const Tensors& states, const Tensors& step) {
                const Tensor h = tanh(matmul(states[0], in[2]) + step[0]), y = matmul(h, in[3]);
                return ScanResult{{h}, {y, is_read ? exp(y) : exp(h)}};
              };
              const ScanResult r = scan(body, {in[1]}, {in[0]});
              return Tensors{r.states[0], r.outputs[0], r.outputs[1]};
            },
            {f32({5, 2, 4}), f32({2, 4}), f32({4, 4}), f32({4, 3})}),
        sinking);
    CHECK(names(rewritten_program) == (is_read ? "scan" : "scan, reshape, matmul, reshape"));
  }
}

TEST_CASE("sinking: the gradient of a loop keeps nothing but what goes from step to step",
          "[passes]") {
  const Program gradient = traced(
      [](const Tensors& in) {
        GradientTape tape;
        for (const Tensor& x : in) tape.watch(x);
        auto body = [&](const Tensors& states, const Tensors& step) {
          const Tensor h = tanh(matmul(step[0], in[2]) + matmul(states[0], in[3]) + in[4]);
          return ScanResult{{h}, {}};
        };
        return tape.gradient(sum(square(scan(body, {in[1]}, {in[0]}).states[0])), in);
      },
      kSpecs);
  const Program optimized_program = optimize(gradient);
  REQUIRE(scans_of(optimized_program).size() == 2);
  CHECK(scans_of(optimized_program)[1]->states == 1);
  check_same(run(gradient), run(optimized_program), 1e-5);
}

}  // namespace crescent::passes
