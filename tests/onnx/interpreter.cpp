#include "interpreter.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "crescent/ops/ops.h"

namespace crescent::onnx_test {
namespace {

std::vector<int64_t> numbers(const Tensor& x) {
  std::vector<int64_t> numbers;
  for (double value : x.to_vector()) numbers.push_back(static_cast<int64_t>(value));
  return numbers;
}

std::vector<int> to_ints(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

Tensor channels_last(const Tensor& x) {
  std::vector<int> axes{0};
  for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
  axes.push_back(1);
  return ops::transpose(x, axes);
}

Tensor channels_first(const Tensor& x) {
  std::vector<int> axes{0, x.rank() - 1};
  for (int i = 1; i + 1 < x.rank(); ++i) axes.push_back(i);
  return ops::transpose(x, axes);
}

/// Transposes a kernel (out, in, spatial...) to (spatial..., in, out).
Tensor kernel(const Tensor& w) {
  std::vector<int> axes;
  for (int i = 2; i < w.rank(); ++i) axes.push_back(i);
  axes.push_back(1), axes.push_back(0);
  return ops::transpose(w, axes);
}

ConvSpec spec_of(const Node& node) {
  const std::vector<int64_t> pads = node.integers("pads"), strides = node.integers("strides");
  const auto half = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  ConvSpec spec;
  spec.strides = strides;
  spec.dilation = node.integers("dilations", std::vector<int64_t>(strides.size(), 1));
  spec.pad_before = {pads.begin(), half};
  spec.pad_after = {half, pads.end()};
  spec.groups = node.integer("group", 1);
  return spec;
}

Tensor conv(const Node& node, const Tensors& x) {
  Conv op;
  op.spec = spec_of(node);
  return channels_first(apply1(op, {channels_last(x[0]), kernel(x[1])}));
}

Tensor conv_transpose(const Node& node, const Tensors& x) {
  ConvBackwardData op;
  op.spec = spec_of(node);
  const Tensor dy = channels_last(x[0]), w = kernel(x[1]);
  const std::vector<int64_t> output_padding = node.integers("output_padding");
  op.input = Shape{dy.dim(0)};
  for (int i = 0; i + 2 < w.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    op.input.append((dy.dim(i + 1) - 1) * op.spec.strides[at] +
                    (w.dim(i) - 1) * op.spec.dilation[at] + 1 - op.spec.pad_before[at] -
                    op.spec.pad_after[at] + output_padding[at]);
  }
  op.input.append(w.dim(-2) * op.spec.groups);
  return channels_first(apply1(op, {dy, w}));
}

Tensor pool(const Node& node, const Tensors& x) {
  Pool op;
  op.max = node.type == "MaxPool";
  op.window = node.integers("kernel_shape");
  op.spec = spec_of(node);
  return channels_first(apply1(op, {channels_last(x[0])}));
}

Tensor slice(const Node&, const Tensors& x) {
  const auto starts = numbers(x[1]), ends = numbers(x[2]), axes = numbers(x[3]),
             steps = numbers(x[4]);
  Tensor y = x[0];
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    const int64_t end = std::min(ends[i], y.dim(axis));
    y = steps[i] == -1 ? ops::flip(y, {axis}) : ops::slice_axis(y, axis, starts[i], end, steps[i]);
  }
  return y;
}

Tensor reshape(const Node& node, const Tensors& x) {
  std::vector<int64_t> dims = numbers(x[1]);
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == 0 && !node.integer("allowzero", 0)) dims[i] = x[0].dim(static_cast<int>(i));
  return ops::reshape(x[0], dims);
}

Tensor expand(const Node&, const Tensors& x) {
  return ops::broadcast_to(x[0], broadcast_shapes(x[0].shape(), numbers(x[1]), "Expand"));
}

Tensor pad(const Node&, const Tensors& x) {
  const std::vector<int64_t> pads = numbers(x[1]);
  const auto half = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  return ops::pad(x[0], {pads.begin(), half}, {half, pads.end()}, x[2].item());
}

Tensor squeeze(const Node&, const Tensors& x) {
  return ops::squeeze(x[0], static_cast<int>(numbers(x[1])[0]));
}
Tensor unsqueeze(const Node&, const Tensors& x) {
  return ops::expand_dims(x[0], static_cast<int>(numbers(x[1])[0]));
}

using Reduction = Tensor (*)(const Tensor&, const ops::Axes&, bool);
template <Reduction f>
Tensor reduce(const Node& node, const Tensors& x) {
  const auto axes = x.size() > 1 ? numbers(x[1]) : node.integers("axes");
  return f(x[0], to_ints(axes), node.integer("keepdims", 1) != 0);
}

template <Tensor (*f)(const Tensor&)>
Tensor unary(const Node&, const Tensors& x) {
  return f(x[0]);
}
template <Tensor (*f)(const ops::Operand&, const ops::Operand&)>
Tensor binary(const Node&, const Tensors& x) {
  if (x[0].dtype() != x[1].dtype()) fail("operands of two types");
  return f(x[0], x[1]);
}

using SingleResult = std::function<Tensor(const Node&, const Tensors&)>;
int axis_of(const Node& node) { return static_cast<int>(node.integer("axis", -1)); }

const std::map<std::string, SingleResult> kOpsWithOneResult{
    {"Abs", unary<ops::abs>},
    {"Add", binary<ops::add>},
    {"And", binary<ops::logical_and>},
    {"ArgMax", [](const Node& n, const Tensors& x) { return ops::argmax(x[0], axis_of(n)); }},
    {"AveragePool", pool},
    {"Cast", [](const Node& n,
                const Tensors& x) { return ops::cast(x[0], dtype_numbered(n.integer("to", 0))); }},
    {"Concat", [](const Node& n, const Tensors& x) { return ops::concatenate(x, axis_of(n)); }},
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"CumSum",
     [](const Node& n, const Tensors& x) {
       return ops::cumsum(x[0], static_cast<int>(x[1].item()), n.integer("reverse", 0) != 0);
     }},
    {"Div", binary<ops::divide>},
    {"Equal", binary<ops::equal>},
    {"Erf", unary<ops::erf>},
    {"Exp", unary<ops::exp>},
    {"Expand", expand},
    {"Floor", unary<ops::floor>},
    {"Gather", [](const Node& n, const Tensors& x) { return ops::gather(x[0], x[1], axis_of(n)); }},
    {"GatherElements",
     [](const Node& n, const Tensors& x) {
       return ops::gather_along_axis(x[0], x[1], axis_of(n));
     }},
    {"Greater", binary<ops::greater>},
    {"GreaterOrEqual", binary<ops::greater_equal>},
    {"Identity", [](const Node&, const Tensors& x) { return x[0]; }},
    {"Less", binary<ops::less>},
    {"LessOrEqual", binary<ops::less_equal>},
    {"Log", unary<ops::log>},
    {"LogSoftmax",
     [](const Node& n, const Tensors& x) { return ops::log_softmax(x[0], axis_of(n)); }},
    {"MatMul", [](const Node&, const Tensors& x) { return ops::matmul(x[0], x[1]); }},
    {"Max", binary<ops::maximum>},
    {"MaxPool", pool},
    {"Min", binary<ops::minimum>},
    {"Mul", binary<ops::multiply>},
    {"Neg", unary<ops::negative>},
    {"Not", unary<ops::logical_not>},
    {"Or", binary<ops::logical_or>},
    {"Pad", pad},
    {"Pow", binary<ops::power>},
    {"Range",
     [](const Node&, const Tensors& x) {
       return ops::arange(static_cast<int64_t>(x[1].item()), x[1].dtype());
     }},
    {"Reciprocal", unary<ops::reciprocal>},
    {"ReduceMax", reduce<ops::max>},
    {"ReduceMean", reduce<ops::mean>},
    {"ReduceMin", reduce<ops::min>},
    {"ReduceProd", reduce<ops::prod>},
    {"ReduceSum", reduce<ops::sum>},
    {"Relu", unary<ops::relu>},
    {"Reshape", reshape},
    {"Shape",
     [](const Node& n, const Tensors& x) {
       const auto start = n.integer("start", 0), end = n.integer("end", x[0].rank());
       return Tensor::from(
           std::vector<int64_t>(x[0].shape().begin() + start, x[0].shape().begin() + end),
           {end - start});
     }},
    {"Sigmoid", unary<ops::sigmoid>},
    {"Sign", unary<ops::sign>},
    {"Slice", slice},
    {"Softmax", [](const Node& n, const Tensors& x) { return ops::softmax(x[0], axis_of(n)); }},
    {"Softplus", unary<ops::softplus>},
    {"Sqrt", unary<ops::sqrt>},
    {"Squeeze", squeeze},
    {"Sub", binary<ops::subtract>},
    {"Tanh", unary<ops::tanh>},
    {"Transpose",
     [](const Node& n, const Tensors& x) {
       return ops::transpose(x[0], to_ints(n.integers("perm")));
     }},
    {"Unsqueeze", unsqueeze},
    {"Where", [](const Node&, const Tensors& x) { return ops::where(x[0], x[1], x[2]); }},
};

/// Part `i` of `count` equal parts of the last axis.
Tensor equal_part(const Tensor& x, int64_t i, int64_t count) {
  const int64_t width = x.dim(-1) / count;
  return ops::slice_axis(x, -1, i * width, (i + 1) * width);
}

Tensor first_direction(const Tensor& x) { return ops::squeeze(x, 0); }

/// The initial state in input i if it is given, else zeros.
Tensor state(const Tensors& x, size_t i, const Shape& shape) {
  return i < x.size() && x[i] ? first_direction(x[i]) : ops::zeros(shape);
}

/// Runs a step function over time; returns Y (steps, 1, batch, units) and the last states (1,
/// batch, units).
Tensors over_time(const Tensor& x, Tensors states,
                  const std::function<Tensors(const Tensor&, const Tensors&)>& step) {
  Tensors rows;
  for (int64_t t = 0; t < x.dim(0); ++t) {
    states = step(x.view_rows(t, 1).view({x.dim(1), x.dim(2)}), states);
    rows.push_back(ops::expand_dims(states[0], 0));
  }
  Tensors results{ops::stack(rows, 0)};
  for (const Tensor& last : states) results.push_back(ops::expand_dims(last, 0));
  return results;
}

/// An LSTM node; the order of its gates is i, o, f, c.
Tensors lstm(const Node& node, const Tensors& x) {
  const int64_t units = node.integer("hidden_size", 0);
  const Tensor w = ops::transpose(first_direction(x[1])), r = ops::transpose(first_direction(x[2])),
               b = equal_part(first_direction(x[3]), 0, 2) +
                   equal_part(first_direction(x[3]), 1, 2);
  const Shape shape{x[0].dim(1), units};
  return over_time(x[0], {state(x, 5, shape), state(x, 6, shape)},
                   [&](const Tensor& step, const Tensors& previous_states) -> Tensors {
                     const Tensor z = ops::matmul(step, w) + ops::matmul(previous_states[0], r) + b;
                     const Tensor i = ops::sigmoid(equal_part(z, 0, 4)),
                                  o = ops::sigmoid(equal_part(z, 1, 4)),
                                  f = ops::sigmoid(equal_part(z, 2, 4)),
                                  c = ops::tanh(equal_part(z, 3, 4));
                     const Tensor cell = f * previous_states[1] + i * c;
                     return {o * ops::tanh(cell), cell};
                   });
}

/// A GRU node; the order of its gates is z, r, h.
Tensors gru(const Node& node, const Tensors& x) {
  if (node.integer("linear_before_reset", 0) != 1) fail("expected the reset after the product");
  const Tensor w = ops::transpose(first_direction(x[1])), r = ops::transpose(first_direction(x[2])),
               wb = equal_part(first_direction(x[3]), 0, 2),
               rb = equal_part(first_direction(x[3]), 1, 2);
  const Shape shape{x[0].dim(1), node.integer("hidden_size", 0)};
  return over_time(
      x[0], {state(x, 5, shape)},
      [&](const Tensor& step, const Tensors& previous_states) -> Tensors {
        const Tensor a = ops::matmul(step, w) + wb, h = ops::matmul(previous_states[0], r) + rb;
        const Tensor z = ops::sigmoid(equal_part(a, 0, 3) + equal_part(h, 0, 3)),
                     reset = ops::sigmoid(equal_part(a, 1, 3) + equal_part(h, 1, 3)),
                     next = ops::tanh(equal_part(a, 2, 3) + reset * equal_part(h, 2, 3));
        return {(1.0 - z) * next + z * previous_states[0]};
      });
}

Tensors scan(const Node& node, const Tensors& x, const Values& enclosing_values) {
  const Graph& body = *node.attributes.at("body").graph;
  const auto sequences = static_cast<size_t>(node.integer("num_scan_inputs", 0));
  const size_t states = x.size() - sequences, outputs = body.outputs.size() - states;
  const bool reverse = !node.integers("scan_input_directions", {0}).empty() &&
                       node.integers("scan_input_directions", {0})[0] == 1;
  Tensors current_states(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<Tensors> rows(outputs);
  const int64_t steps = x[states].dim(0);
  for (int64_t i = 0; i < steps; ++i) {
    Tensors body_inputs = current_states;
    for (size_t q = states; q < x.size(); ++q) {
      const Tensor row = x[q].view_rows(reverse ? steps - 1 - i : i, 1);
      body_inputs.push_back(row.view(row.shape().slice(1, row.rank())));
    }
    const Tensors results = run(body, body_inputs, enclosing_values);
    current_states = {results.begin(), results.begin() + static_cast<std::ptrdiff_t>(states)};
    for (size_t o = 0; o < outputs; ++o) rows[o].push_back(results[states + o]);
  }
  const auto out = node.integers("scan_output_directions", std::vector<int64_t>(outputs, 0));
  for (size_t o = 0; o < outputs; ++o) {
    if (out[o]) std::reverse(rows[o].begin(), rows[o].end());
    current_states.push_back(ops::stack(rows[o], 0));
  }
  return current_states;
}

Tensors top_k(const Tensors& x) {
  Tensors y = ops::top_k(x[0], numbers(x[1])[0]);
  y[1] = ops::cast(y[1], DType::int64);
  return y;
}

Tensors compute(const Node& node, const Tensors& x, const Values& values) {
  if (node.type == "LSTM") return lstm(node, x);
  if (node.type == "GRU") return gru(node, x);
  if (node.type == "Scan") return scan(node, x, values);
  if (node.type == "TopK") return top_k(x);
  const auto op_with_one_result = kOpsWithOneResult.find(node.type);
  if (op_with_one_result == kOpsWithOneResult.end()) fail("no definition of ", node.type);
  return {op_with_one_result->second(node, x)};
}

}  // namespace

Tensors run(const Graph& graph, const Tensors& inputs, const Values& enclosing_values) {
  Values values = enclosing_values;
  auto make = [&](const std::string& name, const Tensor& value) {
    if (!values.emplace(name, value).second) fail("two values have the name ", name);
  };
  auto find = [&](const std::string& name) {
    const auto it = values.find(name);
    if (it == values.end()) fail("nothing before has made ", name);
    return it->second;
  };
  if (inputs.size() != graph.inputs.size()) fail("expected ", graph.inputs.size(), " inputs");
  for (size_t i = 0; i < inputs.size(); ++i) make(graph.inputs[i].name, inputs[i]);
  for (const auto& [name, value] : graph.constants) make(name, value);
  for (const Node& node : graph.nodes) {
    Tensors arguments;
    for (const std::string& name : node.inputs)
      arguments.push_back(name.empty() ? Tensor() : find(name));
    const Tensors results = compute(node, arguments, values);
    for (size_t o = 0; o < node.outputs.size(); ++o) make(node.outputs[o], results.at(o));
  }
  Tensors outputs;
  for (const ValueInfo& output : graph.outputs) outputs.push_back(find(output.name));
  return outputs;
}

}  // namespace crescent::onnx_test
