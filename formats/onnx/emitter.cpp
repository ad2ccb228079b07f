#include "emitter.h"

#include <algorithm>

#include "crescent/ops/ops.h"
#include "op_emitters.h"

namespace crescent::onnx {
namespace {

std::vector<int64_t> to_channels_first(size_t rank) {
  std::vector<int64_t> axes{0, static_cast<int64_t>(rank) - 1};
  for (size_t i = 1; i + 1 < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

std::vector<int64_t> to_channels_last(size_t rank) {
  std::vector<int64_t> axes{0};
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  axes.push_back(1);
  return axes;
}

/// Adds axes of size 1 in front of a constant until it has `rank` axes, and transposes it to
/// channels first.
Tensor with_channels_first(const Tensor& constant, size_t rank) {
  Shape shape = constant.shape();
  while (static_cast<size_t>(shape.rank()) < rank) shape = Shape{1}.concat(shape);
  const std::vector<int64_t> axes = to_channels_first(rank);
  return ops::transpose(ops::reshape(constant, shape), {axes.begin(), axes.end()});
}

}  // namespace

std::string unique_name(File& file, const std::string& base_name) {
  std::string name = base_name;
  for (int i = 1; !file.names.insert(name).second; ++i) name = concat(base_name, "_", i);
  return name;
}

Emitter::Emitter(File& file, Graph& graph, const TracedProgram& traced)
    : file_(file), graph_(graph), traced_(traced), infos_(traced.program.values.size()) {
  for (int value : traced.program.outputs) info_of(value).is_read = true;
  for (const Program::Instruction& i : traced.program.code)
    for (int value : i.inputs) info_of(value).is_read = true;
  for (const Program::Constant& c : traced.program.constants)
    if (!traced.fill_values.contains(c.value) && !traced.progressions.contains(c.value) &&
        !traced.symbolic_values.contains(c.value))
      bind(c.value, c.tensor);
}

/// A name made from the layer's name and `base_name` that is not yet used in the file.
std::string Emitter::unique_name_in_layer(const std::string& base_name) {
  const auto& scopes = traced_.program.scopes;
  const std::string scope = instruction_ ? scopes[instruction_->scope] : "";
  return unique_name(file_, scope.empty() ? base_name : scope + "/" + base_name);
}

void Emitter::run() {
  for (const Program::Instruction& instruction : traced_.program.code) {
    instruction_ = &instruction;
    if (!fold()) emit(*this, *instruction.op);
  }
  instruction_ = nullptr;
}

/// Computes the result of an instruction now if all of its inputs are constants and no size of its
/// result is symbolic. Returns whether the result was computed.
bool Emitter::fold() {
  if (instruction_->op->effect() != Effect::none) return false;
  for (int value : instruction_->outputs)
    for (int64_t size : sizes_of(value))
      if (size < 0) return false;
  Tensors inputs;
  for (int value : instruction_->inputs) inputs.push_back(info_of(value).constant);
  if (!std::all_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return bool(t); }))
    return false;
  const Tensors results = crescent::apply(instruction_->op, inputs);
  for (size_t o = 0; o < results.size(); ++o) bind(instruction_->outputs[o], results[o]);
  return true;
}

std::string Emitter::name_of(int value) {
  ValueInfo& info = info_of(value);
  if (!info.channels_last.empty()) return info.channels_last;
  if (info.constant) return info.channels_last = add_constant(info.constant);
  if (!info.channels_first.empty())
    return info.channels_last =
               add_transpose(info.channels_first, to_channels_last(sizes_of(value).size()));
  if (const auto fill_value = traced_.fill_values.find(value);
      fill_value != traced_.fill_values.end())
    return info.channels_last =
               add_node("Expand", {add_constant(fill_value->second), shape(sizes_of(value))});
  if (const auto progression = traced_.progressions.find(value);
      progression != traced_.progressions.end())
    return info.channels_last = add_node(
               "Reshape", {add_row_progression(progression->second), shape(sizes_of(value))});
  if (const auto symbolic_value = traced_.symbolic_values.find(value);
      symbolic_value != traced_.symbolic_values.end())
    return info.channels_last = add_filled_tensor(symbolic_value->second, spec_of(value));
  refuse("it needs a result that ONNX' form of the op before it does not have");
}

/// Adds nodes that compute rows in arithmetic progression, first + (0, 1, ...) * step; returns the
/// name of the result.
std::string Emitter::add_row_progression(const RowProgression& progression) {
  const TensorSpec& spec = progression.step.spec();
  const std::string count =
      add_node("Squeeze", {size(progression.row_count_code), add_integers({0})});
  const std::string numbers =
      add_node("Range", {add_number(0, DType::int64), count, add_number(1, DType::int64)});
  const std::string row_numbers = add_node("Cast", {numbers}, {{"to", number_of(spec.dtype)}});
  std::vector<int64_t> column_shape(spec.shape.rank(), 1);
  column_shape[0] = -1;
  const std::string rows = add_node("Reshape", {row_numbers, add_integers(column_shape)});
  const std::string step = progression.step_size_code == 0
                               ? add_constant(progression.step)
                               : add_filled_tensor(progression.step_size_code, spec);
  return add_node("Add", {add_constant(progression.first), add_node("Mul", {rows, step})});
}

std::string Emitter::add_filled_tensor(int64_t code, const TensorSpec& spec) {
  const std::string number = add_node("Cast", {size(code)}, {{"to", number_of(spec.dtype)}});
  const std::string scalar = add_node("Squeeze", {number, add_integers({0})});
  return add_node("Expand", {scalar, add_integers({spec.shape.begin(), spec.shape.end()})});
}

std::string Emitter::channels_first_name_of(int value) {
  ValueInfo& info = info_of(value);
  if (!info.channels_first.empty()) return info.channels_first;
  const size_t rank = sizes_of(value).size();
  return info.channels_first = info.constant
                                   ? add_constant(with_channels_first(info.constant, rank))
                                   : add_transpose(name_of(value), to_channels_first(rank));
}

bool Emitter::is_zero(size_t i) {
  const auto fill_value = traced_.fill_values.find(instruction_->inputs[i]);
  const Tensor value =
      fill_value == traced_.fill_values.end() ? constant_input(i) : fill_value->second;
  if (!value) return false;
  const std::vector<double> numbers = value.to_vector();
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0; });
}

Emitter::InputsInOneLayout Emitter::inputs_in_one_layout() {
  size_t rank = 0;
  bool is_channels_first = false, ranks_match = true;
  for (int value : instruction_->inputs) {
    rank = std::max(rank, sizes_of(value).size());
    is_channels_first = is_channels_first || (info_of(value).channels_last.empty() &&
                                              !info_of(value).channels_first.empty());
  }
  for (int value : instruction_->inputs)
    ranks_match = ranks_match && (info_of(value).constant || sizes_of(value).size() == rank);
  Names names;
  for (int value : instruction_->inputs) {
    const Tensor& constant_tensor = info_of(value).constant;
    if (!is_channels_first || !ranks_match)
      names.push_back(name_of(value));
    else if (constant_tensor && constant_tensor.rank() > 0)
      names.push_back(add_constant(with_channels_first(constant_tensor, rank)));
    else
      names.push_back(constant_tensor ? name_of(value) : channels_first_name_of(value));
  }
  return {names, is_channels_first && ranks_match};
}

void Emitter::set_result(const std::string& name, bool is_channels_first) {
  is_channels_first ? set_channels_first_output(name) : set_output(name);
}

std::shared_ptr<const Graph> Emitter::body(const Scan& scan) {
  const TracedProgram& traced = traced_.bodies.at(position());
  auto graph = std::make_shared<Graph>();
  graph->name = unique_name_in_layer("body");
  Emitter body_emitter(file_, *graph, traced);
  const auto body_inputs = static_cast<size_t>(scan.states + scan.sequences);
  for (size_t i = 0; i < traced.program.inputs.size(); ++i) {
    const int value = traced.program.inputs[i];
    const TensorSpec& spec = body_emitter.spec_of(value);
    if (i < body_inputs) {
      graph->inputs.push_back(
          {unique_name_in_layer("step"), spec.dtype, body_emitter.sizes_of(value)});
      body_emitter.bind(value, graph->inputs.back().name);
    } else if (constant_input(i)) {
      body_emitter.bind(value, constant_input(i));
    } else {
      body_emitter.bind(value, input(i));
    }
  }
  body_emitter.run();
  for (int value : traced.program.outputs) {
    const std::string name = body_emitter.add_node("Identity", {body_emitter.name_of(value)});
    graph->outputs.push_back(
        {name, body_emitter.spec_of(value).dtype, body_emitter.sizes_of(value)});
  }
  return graph;
}

Names Emitter::add_nodes(const std::string& type, Names inputs, size_t outputs,
                         Attributes attributes) {
  Node node{type, std::move(inputs), {}, std::move(attributes)};
  for (size_t o = 0; o < outputs; ++o) node.outputs.push_back(unique_name_in_layer(type));
  graph_.nodes.push_back(node);
  return node.outputs;
}

std::string Emitter::add_node(const std::string& type, Names inputs, Attributes attributes) {
  return add_nodes(type, std::move(inputs), 1, std::move(attributes)).front();
}

std::string Emitter::add_transpose(const std::string& name, std::vector<int64_t> axes) {
  return add_node("Transpose", {name}, {{"perm", std::move(axes)}});
}

std::string Emitter::add_constant(const Tensor& tensor) {
  file_.main.constants.emplace_back(unique_name_in_layer("constant"),
                                    tensor.in_memory() ? tensor : tensor.clone());
  return file_.main.constants.back().first;
}

std::string Emitter::add_integers(const std::vector<int64_t>& values) {
  return add_constant(Tensor::from(values, Shape{static_cast<int64_t>(values.size())}));
}

std::string Emitter::add_number(double value, DType dtype) {
  return add_constant(Tensor::full({}, value, dtype));
}

/// The name of the size of a dynamic axis. Nodes at the start of the graph compute it from the
/// first input that has the axis.
const std::string& Emitter::dynamic_axis(int axis) {
  std::string& name = file_.dynamic_axes[axis];
  if (!name.empty()) return name;
  const SymbolicSize dynamic_size{1, 0, 1 << axis};
  name = unique_name(file_, text_of(dynamic_size));
  const auto axis_index = static_cast<size_t>(axis);
  for (const GraphTensor& input : file_.main.inputs) {
    if (input.sizes.size() <= axis_index || input.sizes[axis_index] != code_of(dynamic_size))
      continue;
    const Node node{
        "Shape", {input.name}, {name}, {{"start", int64_t{axis}}, {"end", int64_t{axis + 1}}}};
    file_.main.nodes.insert(file_.main.nodes.begin(), node);
    break;
  }
  return name;
}

/// Adds the nodes that compute a size as a tensor of shape (1,); returns its name.
std::string Emitter::size(int64_t size) {
  if (size >= 0) return add_integers({size});
  const SymbolicSize symbolic = symbolic_size(size);
  std::string name;
  for (int axis = 0; axis < kMaxDynamicAxes; ++axis)
    if (symbolic.axes >> axis & 1)
      name = name.empty() ? dynamic_axis(axis) : add_node("Mul", {name, dynamic_axis(axis)});
  if (symbolic.factor != 1) name = add_node("Mul", {name, add_integers({symbolic.factor})});
  return symbolic.addend == 0 ? name : add_node("Add", {name, add_integers({symbolic.addend})});
}

std::string Emitter::shape(const Sizes& sizes) {
  if (std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; }))
    return add_integers(sizes);
  Names size_names;
  for (int64_t axis_size : sizes) size_names.push_back(size(axis_size));
  return add_node("Concat", size_names, {{"axis", int64_t{0}}});
}

void Emitter::refuse(const std::string& why) const {
  fail(instruction_ ? location_of(traced_.program, *instruction_) : "the model", ": ", why);
}

}  // namespace crescent::onnx
