// The pass `algebra`: algebraic identities of numbers and shapes.
#include <algorithm>

#include "crescent/program/gradient.h"
#include "passes.h"

namespace crescent::passes {

using namespace ops;

namespace {

struct RewriteCase {
  const char* description;
  Tensor (*f)(const Tensor& x, const Tensor& y);
  const char* expected_names;
};

Tensor cast_chain(const Tensor& x, DType first, DType second) {
  return cast(cast(x, first), second);
}

const RewriteCase kElementwise[] = {
    {"x * 1", [](const Tensor& x, const Tensor&) { return 1.0 * x * 1.0; }, ""},
    {"x + 0", [](const Tensor& x, const Tensor&) { return 0.0 + (x + 0.0) - 0.0; }, ""},
    {"x / 1", [](const Tensor& x, const Tensor&) { return x / 1.0; }, ""},
    {"x / 4", [](const Tensor& x, const Tensor&) { return x / 4.0; }, "multiply"},
    {"x / 4096", [](const Tensor& x, const Tensor&) { return x / 4096.0; }, "multiply"},
    {"x / 2^14", [](const Tensor& x, const Tensor&) { return x / 16384.0; }, "divide"},
    {"x / 2^-15", [](const Tensor& x, const Tensor&) { return x / 0x1p-15; }, "divide"},
    {"x / 2^127", [](const Tensor& x, const Tensor&) { return x * 0x1p126 / 0x1p127; },
     "multiply, divide"},
    {"x / 3", [](const Tensor& x, const Tensor&) { return x / 3.0; }, "divide"},
    {"1 / x", [](const Tensor& x, const Tensor&) { return 1.0 / (x + 2.0); }, "add, reciprocal"},
    {"x ** 1", [](const Tensor& x, const Tensor&) { return power(x, 1); }, ""},
    {"x ** 2", [](const Tensor& x, const Tensor&) { return power(x, 2); }, "square"},
    {"x ** 3", [](const Tensor& x, const Tensor&) { return power(x, 3); }, "power"},
    {"--x", [](const Tensor& x, const Tensor&) { return -(-x); }, ""},
    {"-1 * x", [](const Tensor& x, const Tensor&) { return -1.0 * x; }, "negative"},
    {"0 - x", [](const Tensor& x, const Tensor&) { return 0.0 - x; }, "negative"},
    {"x + -y", [](const Tensor& x, const Tensor& y) { return x + -y; }, "subtract"},
    {"x - -y", [](const Tensor& x, const Tensor& y) { return x - -y; }, "add"},
    {"-(x - y)", [](const Tensor& x, const Tensor& y) { return -(x - y); }, "subtract"},
    {"(-x)^2", [](const Tensor& x, const Tensor&) { return square(-x); }, "square"},
    {"relu(relu(x))", [](const Tensor& x, const Tensor&) { return relu(relu(x)); }, "relu"},
    {"maximum(x, 0)", [](const Tensor& x, const Tensor&) { return maximum(x, 0); }, "relu"},
    {"maximum(x, 0.5)", [](const Tensor& x, const Tensor&) { return maximum(x, 0.5); }, "maximum"},
    {"stop_gradient", [](const Tensor& x, const Tensor&) { return stop_gradient(x); }, ""},
    {"select(true)",
     [](const Tensor& x, const Tensor& y) {
       return where(Tensor::full({3}, 1, DType::boolean), x, y);
     },
     ""},
    {"select(not c)",
     [](const Tensor& x, const Tensor& y) { return where(logical_not(less(x, y)), x, y); },
     "less, select"},
    {"select(c, x, x)", [](const Tensor& x, const Tensor& y) { return where(less(x, y), x, x); },
     ""},
    {"float32 to float64 and back",
     [](const Tensor& x, const Tensor&) { return cast_chain(x, DType::float64, DType::float32); },
     ""},
    {"float32 to bfloat16 and back",
     [](const Tensor& x, const Tensor&) { return cast_chain(x, DType::bfloat16, DType::float32); },
     "cast, cast"},
    {"float32 to float64 to int32",
     [](const Tensor& x, const Tensor&) { return cast_chain(x, DType::float64, DType::int32); },
     "cast"},
    {"float32 to float16 to int32",
     [](const Tensor& x, const Tensor&) { return cast_chain(x, DType::float16, DType::int32); },
     "cast, cast"},
    {"float32 to int32 to float32",
     [](const Tensor& x, const Tensor&) { return cast_chain(x, DType::int32, DType::float32); },
     "cast, cast"},
};

const RewriteCase kShapes[] = {
    {"reshape and back",
     [](const Tensor& x, const Tensor&) {
       return reshape(reshape(x, {6}), {2, 3});
     },
     ""},
    {"reshape chain",
     [](const Tensor& x, const Tensor&) {
       return reshape(reshape(x, {6}), {3, -1});
     },
     "reshape"},
    {"transpose and back", [](const Tensor& x, const Tensor&) { return transpose(transpose(x)); },
     ""},
    {"transpose of one row",
     [](const Tensor& x, const Tensor&) { return transpose(sum(x, {0}, true)); },
     "reduce, reshape"},
    {"transpose chain",
     [](const Tensor& x, const Tensor&) {
       return transpose(transpose(expand_dims(x, 0), {1, 0, 2}), {2, 1, 0});
     },
     "reshape, transpose"},
    {"broadcast to its own shape",
     [](const Tensor& x, const Tensor&) {
       return broadcast_to(x, {2, 3});
     },
     ""},
    {"broadcast chain",
     [](const Tensor& x, const Tensor&) {
       return broadcast_to(broadcast_to(x, {4, 2, 3}), {5, 4, 2, 3});
     },
     "broadcast_to"},
    {"whole slice",
     [](const Tensor& x, const Tensor&) {
       return slice(x, {0, 0}, {2, 3});
     },
     ""},
    {"no padding",
     [](const Tensor& x, const Tensor&) {
       return pad(x, {0, 0}, {0, 0});
     },
     ""},
    {"flip and back", [](const Tensor& x, const Tensor&) { return flip(flip(x, {1}), {1}); }, ""},
    {"flips of different axes",
     [](const Tensor& x, const Tensor&) { return flip(flip(x, {1}), {0}); }, "reverse, reverse"},
    {"a flip of both axes and of one",
     [](const Tensor& x, const Tensor&) {
       return flip(flip(x, {0, 1}), {1});
     },
     "reverse, reverse"},
    {"one part",
     [](const Tensor& x, const Tensor&) { return concatenate(std::vector<Tensor>{x}, 0); }, ""},
    {"sum along one element",
     [](const Tensor& x, const Tensor&) { return sum(expand_dims(x, 1), {1}); }, ""},
    {"sum of a broadcast",
     [](const Tensor& x, const Tensor&) {
       return sum(broadcast_to(x, {4, 2, 3}), {0});
     },
     "multiply"},
    {"mean of a broadcast",
     [](const Tensor& x, const Tensor&) {
       return mean(broadcast_to(x, {4, 2, 3}), {0});
     },
     ""},
    {"sum of a broadcast, partly",
     [](const Tensor& x, const Tensor&) {
       return sum(broadcast_to(x, {4, 2, 3}), {0, 1});
     },
     "broadcast_to, reduce"},
};

void check(const RewriteCase& rewrite_case, Pass pass) {
  INFO(rewrite_case.description);
  Program p = traced([&](const Tensors& in) { return Tensors{rewrite_case.f(in[0], in[1])}; },
                     {f32({2, 3}), f32({2, 3})});
  p = rewritten(p, [](Program& q) { return common_subexpressions(q); });
  p = rewritten(p, pass);
  std::erase_if(p.code, [](const auto& i) {
    return i.op->name() == "fill" && i.op->infer({})[0].shape.rank() == 0;
  });
  CHECK(names(p) == rewrite_case.expected_names);
}

}  // namespace

TEST_CASE("algebra", "[passes]") {
  for (const RewriteCase& row : kElementwise) check(row, algebra);
}

TEST_CASE("shapes", "[passes]") {
  for (const RewriteCase& row : kShapes) check(row, shapes);
}

TEST_CASE("shapes: sums along an axis in the middle that was repeated, kept or not", "[passes]") {
  for (const bool keepdims : {false, true}) {
    const Program p = traced(
        [&](const Tensors& in) {
          return Tensors{sum(broadcast_to(in[0], {2, 5, 3}), {1}, keepdims),
                         max(broadcast_to(in[0], {2, 5, 3}), {1}, keepdims)};
        },
        {f32({2, 1, 3})});
    CHECK(names(rewritten(p, shapes)).find("reduce") == std::string::npos);
  }
}

TEST_CASE("shapes: two transposes are the one that does both", "[passes]") {
  std::vector<int> first{0, 1, 2};
  do {
    std::vector<int> second{0, 1, 2};
    do {
      const Program p = traced(
          [&](const Tensors& in) { return Tensors{transpose(transpose(in[0], first), second)}; },
          {f32({2, 3, 4})});
      CHECK(rewritten(p, shapes).code.size() <= 1);
    } while (std::next_permutation(second.begin(), second.end()));
  } while (std::next_permutation(first.begin(), first.end()));
}

TEST_CASE("shapes: reductions and rearrangements of a fill are fills", "[passes]") {
  Program p;
  const int sevens = add(p, fill_op({200, 300}, 7), {});
  Reshape flat_op;
  flat_op.shape = {60000};
  for (ReduceKind kind : {ReduceKind::sum, ReduceKind::mean, ReduceKind::max})
    p.outputs.push_back(add(p, reduce_op(kind, {0}), {sevens}));
  p.outputs.push_back(add(p, flat_op, {sevens}));
  CHECK(names(rewritten(p, shapes)) == "fill, fill, fill, fill");
}

TEST_CASE("shapes: products of what is repeated are taken", "[passes]") {
  Program p;
  p.inputs = {p.add_value(f32({2, 1, 3}))};
  BroadcastTo broadcast_op;
  broadcast_op.shape = {2, 5, 3};
  const int sevens = add(p, fill_op({2, 3}, 7), {}), repeated = add(p, broadcast_op, {p.inputs[0]});
  p.outputs.push_back(add(p, reduce_op(ReduceKind::prod, {0}), {sevens}));
  p.outputs.push_back(add(p, reduce_op(ReduceKind::prod, {1}), {repeated}));
  rewritten(p, shapes);
}

TEST_CASE("algebra: a tensor of one number is a number", "[passes]") {
  Program p;
  p.inputs = {p.add_value(f32({2, 3}))};
  const int ones = add(p, fill_op({2, 3}, 1), {}), one_half = add(p, fill_op({}, 0.5), {});
  p.outputs.push_back(add(p, binary_op(BinaryKind::divide), {p.inputs[0], ones}));
  p.outputs.push_back(add(p, binary_op(BinaryKind::add), {ones, one_half}));
  Program q = rewritten(p, algebra);
  CHECK(q.outputs[0] == q.inputs[0]);
  CHECK(names(q).find("divide") == std::string::npos);
  CHECK(names(optimize(p)).empty());
}

TEST_CASE("algebra works on a tensor before it is broadcast", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor broadcast_column = broadcast_to(in[1], {4, 3});
        return Tensors{in[0] * broadcast_column, exp(broadcast_column), broadcast_column * 2.0,
                       in[0] + ops::ones({4, 3})};
      },
      {f32({4, 3}), f32({3})});
  Program q = rewritten(p, algebra);
  for (const auto& i : q.code) {
    if (i.op->name() != "unary" && i.op->name() != "binary") continue;
    for (int v : i.inputs) CHECK(q.values[size_t(v)].shape.size() <= (v == q.inputs[0] ? 12 : 3));
  }
}

TEST_CASE("algebra keeps integers whole and NaN where it is", "[passes]") {
  Program integer_program = traced(
      [](const Tensors& in) {
        return Tensors{in[0] * 1 + 0, power(in[0], 2),
                       cast(cast(in[0], DType::int64), DType::int32)};
      },
      {{DType::int32, {5}}});
  CHECK(names(rewritten(integer_program, algebra)) == "square");
  Program nan_program = traced(
      [](const Tensors& in) {
        const Tensor x = log(in[0] - 10.0);
        return Tensors{x * 0.0, x - x, maximum(x, 0), where(equal(x, x), x, 1.0)};
      },
      {f32({3})});
  rewritten(nan_program, algebra);
}

TEST_CASE("algebra leaves out a cast there and back only where nothing is lost", "[passes]") {
  const DType all_dtypes[] = {DType::boolean, DType::uint8,  DType::int8,    DType::int16,
                              DType::int32,   DType::int64,  DType::float16, DType::bfloat16,
                              DType::float32, DType::float64};
  // Values that some dtypes represent and others do not: the limits, the longest mantissas, and a
  // fraction.
  const Tensor values =
      Tensor::from(std::vector<double>{0, 1, 5, 127, 200, 255, -3, -128, 1027, -32768, 16777217,
                                       2147483647, 9007199254740991, 0.75, 1.0 / 3, 65504, 3e38},
                   {17});
  for (DType from : all_dtypes) {
    const Tensor x = cast(values, from);
    for (DType middle_dtype : all_dtypes) {
      const Program p =
          traced([&](const Tensors& in) { return Tensors{cast_chain(in[0], middle_dtype, from)}; },
                 {x.spec()});
      const Program q = rewritten(p, algebra);
      if (!q.code.empty()) continue;
      // Integers outside the range of the intermediate dtype wrap around.
      INFO(name_of(from) << " through " << name_of(middle_dtype));
      CHECK(cast(cast(x, middle_dtype), from).to_vector() == x.to_vector());
    }
  }
}

TEST_CASE(
    "division by a power of two is a multiplication while the factor is a number of the dtype",
    "[passes]") {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    for (int exponent = -20; exponent <= 20; ++exponent) {
      const double divisor = std::ldexp(1.0, exponent), small_number = std::ldexp(1.0, -8);
      const Tensor x = Tensor::full({3}, exponent < 0 ? small_number : 1.0, dtype);
      const Program p =
          traced([&](const Tensors& in) { return Tensors{in[0] / divisor}; }, {x.spec()});
      const auto expected_quotients = (x / divisor).to_vector();
      auto executable = compile(rewritten(p, algebra));
      Tensors variables, outputs{Tensor(x.spec())};
      executable->run(Tensors{x}, variables, outputs);
      INFO(name_of(dtype) << " 2^" << exponent);
      CHECK(outputs[0].to_vector() == expected_quotients);
    }
  }
}

TEST_CASE("softmax meets its logarithm", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        return Tensors{log(ops::softmax(in[0])), log(ops::softmax(in[0], 0))};
      },
      {f32({4, 10})});
  Program q = rewritten(p, passes::softmax);
  CHECK(names(q) == "softmax, softmax");
  CHECK((op<Softmax>(q, 0).log && op<Softmax>(q, 1).log));
  CHECK(op<Softmax>(q, 0).axis != op<Softmax>(q, 1).axis);
  const Program transposed_twice = traced(
      [](const Tensors& in) { return Tensors{log(ops::log_softmax(in[0]))}; }, {f32({4, 10})});
  CHECK(names(rewritten(transposed_twice, passes::softmax)) == "softmax, log");
}

TEST_CASE("the gradient of softmax forgets what is the same for all classes", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]);
        const Tensor p = ops::softmax(in[0]);
        const Tensor q = clip(p / sum(p, {-1}, true), 1e-7, 1 - 1e-7);
        const Tensor loss = -sum(in[1] * log(q), {-1});
        return Tensors{loss, tape.gradient(loss, Tensors{in[0]})[0]};
      },
      {f32({4, 10}), f32({4, 10})});
  Program q = rewritten(p, algebra);  // the gradient of the sum is no longer broadcast
  const auto sum_count = [](const Program& program) {
    return std::count_if(program.code.begin(), program.code.end(),
                         [](const auto& i) { return i.op->name() == "reduce"; });
  };
  CHECK(sum_count(q) == 4);
  CHECK(sum_count(rewritten(q, passes::softmax)) == 3);

  Program other_program = traced(
      [](const Tensors& in) {
        const Tensor p = ops::softmax(in[0]), x = in[1] + in[2], y = in[1] + in[3];
        return Tensors{x - sum(x * p, {1}, true),
                       y - sum(y * p, {0}, true),
                       x - sum(x * p, {0}, true),
                       y - max(y * p, {1}, true),
                       y - sum(y * ops::log_softmax(in[0]), {1}, true),
                       y - sum(y * ops::softmax(in[0], 0), {0}, true)};
      },
      {f32({4, 10}), f32({4, 10}), f32({10}), f32({4, 1})});
  CHECK_FALSE(passes::softmax(other_program));
}

}  // namespace crescent::passes
