#include "two_traces.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "crescent/ops/ops.h"

namespace crescent::onnx {
namespace {

[[noreturn]] void refuse(const std::string& location) {
  fail(location, ": its result depends on the size of the batch, or of an open axis of an input, ",
       "which a graph of ONNX does not know");
}

/// The product of the sizes of the dynamic axes in the bit mask `axes`.
int64_t product(const int64_t (&sizes)[kMaxDynamicAxes], int axes) {
  int64_t product = 1;
  for (int axis = 0; axis < kMaxDynamicAxes; ++axis)
    if (axes >> axis & 1) product *= sizes[axis];
  return product;
}

/// Returns the code of the symbolic size whose value is `a` in the first and `b` in the second of
/// the traced programs. Fails unless the size is a multiple of a product of dynamic sizes, or
/// `factor` * size + `addend` for a dynamic axis other than the batch (such as the number of
/// windows along an axis).
int64_t size_by_two_traces(int64_t a, int64_t b, const std::string& location) {
  if (a == b) return a;
  const auto& [first_sizes, second_sizes] = kTracedSizes;
  for (int axes = 1; axes < 1 << kMaxDynamicAxes; ++axes) {
    const int64_t factor = a / product(first_sizes, axes);
    if (factor > 0 && a == factor * product(first_sizes, axes) &&
        b == factor * product(second_sizes, axes))
      return code_of({factor, 0, axes});
  }
  constexpr int64_t kMaxAddend = 64;
  std::optional<SymbolicSize> best;
  for (int axis = 1; axis < kMaxDynamicAxes; ++axis) {
    const int64_t step = second_sizes[axis] - first_sizes[axis], factor = (b - a) / step;
    const SymbolicSize size{factor, a - factor * first_sizes[axis], 1 << axis};
    if (factor < 1 || (b - a) % step != 0 || std::abs(size.addend) > kMaxAddend) continue;
    if (!best || std::abs(size.addend) < std::abs(best->addend)) best = size;
  }
  if (!best) refuse(location);
  return code_of(*best);
}

Sizes sizes_by_two_traces(const Shape& a, const Shape& b, const std::string& location) {
  if (a.rank() != b.rank()) refuse(location);
  Sizes sizes;
  for (int i = 0; i < a.rank(); ++i) sizes.push_back(size_by_two_traces(a[i], b[i], location));
  return sizes;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// The value that all elements of a tensor have, as a tensor of one element; a null tensor if they
/// differ.
Tensor only_value(const Tensor& tensor) {
  const auto* bytes = static_cast<const char*>(tensor.raw());
  const size_t width = size_of(tensor.dtype());
  for (size_t offset = width; offset < tensor.bytes(); offset += width)
    if (std::memcmp(bytes, bytes + offset, width) != 0) return {};
  Tensor value(TensorSpec{tensor.dtype(), Shape{1}});
  std::memcpy(value.mutable_raw(), bytes, width);
  return value;
}

/// `a` and `b` are the same value in two programs, which were recorded for different sizes of the
/// inputs. If all elements of `a` are equal and all of `b`, and these two elements belong to one
/// symbolic size, returns the code of this size; else 0.
int64_t size_of_equal_elements(const Tensor& a, const Tensor& b, const std::string& location) {
  const Tensor value_a = only_value(a), value_b = only_value(b);
  if (!value_a || !value_b) return 0;
  const double x = value_a.item(), y = value_b.item();
  const bool are_sizes = x != y && x > 0 && y > 0 && x == std::floor(x) && y == std::floor(y);
  return are_sizes ? size_by_two_traces(std::llround(x), std::llround(y), location) : 0;
}

bool is_arithmetic_sequence(const Tensor& numbers, const Tensor& first, const Tensor& step) {
  Shape column_shape = step.shape();
  for (int i = 0; i < column_shape.rank(); ++i) column_shape.set(i, i == 0 ? numbers.dim(0) : 1);
  const Tensor row_numbers = ops::reshape(ops::arange(numbers.dim(0), step.dtype()), column_shape);
  return same_bytes(first + row_numbers * step, numbers);
}

/// Removes the leading axes of size 1.
Tensor without_leading_ones(const Tensor& tensor) {
  int first = 0;
  while (first + 1 < tensor.rank() && tensor.dim(first) == 1) ++first;
  return ops::reshape(tensor, tensor.shape().slice(first, tensor.rank()));
}

/// `a` and `b` are the same value in two programs, which were recorded for different sizes of the
/// inputs. Returns the arithmetic progression of which both consist; fails if there is none.
RowProgression row_progression(const Tensor& a, const Tensor& b, const std::string& location) {
  if (a.rank() == 0 || b.rank() == 0 || a.dim(0) < 2 || a.dim(0) == b.dim(0)) refuse(location);
  const Tensor first_a = a.view_rows(0, 1), first_b = b.view_rows(0, 1),
               step_a = a.view_rows(1, 1) - first_a, step_b = b.view_rows(1, 1) - first_b;
  if (!same_bytes(first_a, first_b) || !is_arithmetic_sequence(a, first_a, step_a) ||
      !is_arithmetic_sequence(b, first_b, step_b))
    refuse(location);
  RowProgression progression{first_a, step_a, size_by_two_traces(a.dim(0), b.dim(0), location), 0};
  if (!same_bytes(step_a, step_b))
    progression.step_size_code = size_of_equal_elements(step_a, step_b, location);
  if (!same_bytes(step_a, step_b) && progression.step_size_code == 0) refuse(location);
  return progression;
}

void compare_constants(TracedProgram& traced, const Program& b) {
  const auto& constants = traced.program.constants;
  const std::string location = "a constant of the model";
  if (constants.size() != b.constants.size()) refuse(location);
  for (size_t i = 0; i < constants.size(); ++i) {
    const Tensor &tensor_a = constants[i].tensor, &tensor_b = b.constants[i].tensor;
    if (constants[i].value != b.constants[i].value) refuse(location);
    if (same_bytes(tensor_a, tensor_b)) continue;
    if (tensor_a.spec() == tensor_b.spec()) {
      const int64_t size = size_of_equal_elements(tensor_a, tensor_b, location);
      if (size == 0) refuse(location);
      traced.symbolic_values[constants[i].value] = size;
      continue;
    }
    const Tensor value_a = only_value(tensor_a), value_b = only_value(tensor_b);
    if (value_a && value_b && same_bytes(value_a, value_b))
      traced.fill_values[constants[i].value] = value_a;
    else
      traced.progressions[constants[i].value] =
          row_progression(without_leading_ones(tensor_a), without_leading_ones(tensor_b), location);
  }
}

/// Compares a slice in the two programs, which were recorded for different sizes of the inputs.
/// Returns for each axis whether the start of the slice has a fixed distance from the end of the
/// axis instead of from its beginning. Fails if the slices differ otherwise, except in the sizes of
/// axes that are taken whole.
std::vector<bool> is_from_end_by_axis(const TracedProgram& traced, const Program& b,
                                      size_t position) {
  const Program::Instruction& instruction = traced.program.code[position];
  const auto &slice_a = static_cast<const Slice&>(*instruction.op),
             &slice_b = static_cast<const Slice&>(*b.code[position].op);
  const auto input = static_cast<size_t>(instruction.inputs[0]),
             output = static_cast<size_t>(instruction.outputs[0]);
  const Shape &shape_a = traced.program.values[input].shape, &shape_b = b.values[input].shape;
  std::vector<bool> is_from_end(slice_a.start.size());
  for (size_t i = 0; i < is_from_end.size(); ++i) {
    const int axis = static_cast<int>(i);
    const bool is_taken_whole = traced.sizes[input][i] == traced.sizes[output][i] &&
                                slice_a.start[i] == 0 && slice_b.start[i] == 0;
    is_from_end[i] = slice_a.start[i] != slice_b.start[i];
    const bool begins_at_same_distance =
        is_from_end[i] ? slice_a.start[i] - shape_a[axis] == slice_b.start[i] - shape_b[axis]
                       : slice_a.start[i] == slice_b.start[i];
    if (!begins_at_same_distance || slice_a.stride[i] != slice_b.stride[i] ||
        (slice_a.size[i] != slice_b.size[i] && !is_taken_whole))
      refuse(location_of(traced.program, instruction));
  }
  return is_from_end;
}

/// Whether the op may have different sizes among its attributes in the two programs, which were
/// recorded for different sizes of the inputs. This is allowed for ops whose ONNX nodes get these
/// sizes from the shapes of the results, or do not need them.
bool may_differ_in_sizes(const Op& op) {
  return dynamic_cast<const Reshape*>(&op) || dynamic_cast<const BroadcastTo*>(&op) ||
         dynamic_cast<const ConvBackwardData*>(&op) || dynamic_cast<const CheckIndices*>(&op) ||
         dynamic_cast<const TopK*>(&op);
}

void compare_instruction(TracedProgram& traced, const Program& b, size_t position) {
  const Program::Instruction &instruction_a = traced.program.code[position],
                             &instruction_b = b.code[position];
  const std::string location = location_of(traced.program, instruction_a);
  if (instruction_a.op->name() != instruction_b.op->name() ||
      instruction_a.inputs != instruction_b.inputs ||
      instruction_a.outputs != instruction_b.outputs)
    refuse(location);
  const auto *scan_a = dynamic_cast<const Scan*>(instruction_a.op.get()),
             *scan_b = dynamic_cast<const Scan*>(instruction_b.op.get());
  if (scan_a && scan_b) {
    traced.bodies.emplace(position, compare_programs(*scan_a->body, *scan_b->body));
  } else if (dynamic_cast<const Slice*>(instruction_a.op.get())) {
    traced.is_from_end_by_axis.emplace(position, is_from_end_by_axis(traced, b, position));
  } else if (!may_differ_in_sizes(*instruction_a.op) &&
             !instruction_a.op->equals(*instruction_b.op)) {
    refuse(location);
  }
}

/// Removes instructions whose results are not read, such as losses that a call adds.
void drop_unread(Program& program) {
  std::vector<bool> read_values(program.values.size());
  auto is_read = [&](int value) { return read_values[value]; };
  auto mark_as_read = [&](const std::vector<int>& values) {
    for (int value : values) read_values[value] = true;
  };
  mark_as_read(program.outputs);
  std::vector<Program::Instruction> needed_code;
  for (size_t i = program.code.size(); i-- > 0;) {
    const auto& outputs = program.code[i].outputs;
    if (std::none_of(outputs.begin(), outputs.end(), is_read)) continue;
    mark_as_read(program.code[i].inputs);
    needed_code.push_back(std::move(program.code[i]));
  }
  program.code.assign(std::make_move_iterator(needed_code.rbegin()),
                      std::make_move_iterator(needed_code.rend()));
  std::erase_if(program.constants, [&](const Program::Constant& c) { return !is_read(c.value); });
}

}  // namespace

std::string location_of(const Program& program, const Program::Instruction& instruction) {
  const std::string& scope = program.scopes[instruction.scope];
  return concat(scope.empty() ? "the model" : concat("'", scope, "'"), " (",
                instruction.op->label(), ")");
}

TracedProgram compare_programs(Program a, Program b) {
  drop_unread(a);
  drop_unread(b);
  TracedProgram traced{std::move(a), {}, {}, {}, {}, {}, {}};
  const Program& program = traced.program;
  if (program.values.size() != b.values.size() || program.code.size() != b.code.size() ||
      program.inputs != b.inputs || program.outputs != b.outputs ||
      program.variables.size() != b.variables.size())
    refuse("the model");
  std::vector<std::string> origins(program.values.size());
  for (int value : program.inputs) origins[value] = "an input";
  for (const Program::Binding& binding : program.variables)
    origins[binding.value] = binding.variable.path();
  for (const Program::Constant& c : program.constants) origins[c.value] = "a constant of the model";
  for (const Program::Instruction& i : program.code)
    for (int value : i.outputs) origins[value] = location_of(program, i);
  for (size_t v = 0; v < program.values.size(); ++v)
    traced.sizes.push_back(origins[v].empty() ? Sizes()
                                              : sizes_by_two_traces(program.values[v].shape,
                                                                    b.values[v].shape, origins[v]));
  compare_constants(traced, b);
  for (size_t i = 0; i < program.code.size(); ++i) compare_instruction(traced, b, i);
  return traced;
}

}  // namespace crescent::onnx
