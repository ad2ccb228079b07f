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
/// `times` * size + `more` for a dynamic axis other than the batch (such as the number of windows
/// along an axis).
int64_t size_by_two_traces(int64_t a, int64_t b, const std::string& location) {
  if (a == b) return a;
  const auto& [one, other] = kTracedSizes;
  for (int axes = 1; axes < 1 << kMaxDynamicAxes; ++axes) {
    const int64_t times = a / product(one, axes);
    if (times > 0 && a == times * product(one, axes) && b == times * product(other, axes))
      return code_of({times, 0, axes});
  }
  constexpr int64_t kMaxAddend = 64;
  std::optional<SymbolicSize> best;
  for (int axis = 1; axis < kMaxDynamicAxes; ++axis) {
    const int64_t step = other[axis] - one[axis], times = (b - a) / step;
    const SymbolicSize size{times, a - times * one[axis], 1 << axis};
    if (times < 1 || (b - a) % step != 0 || std::abs(size.more) > kMaxAddend) continue;
    if (!best || std::abs(size.more) < std::abs(best->more)) best = size;
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
  for (size_t at = width; at < tensor.bytes(); at += width)
    if (std::memcmp(bytes, bytes + at, width) != 0) return {};
  Tensor value(TensorSpec{tensor.dtype(), Shape{1}});
  std::memcpy(value.mutable_raw(), bytes, width);
  return value;
}

/// If all elements of `a` have one value and all of `b` another, and these values are a symbolic
/// size in the two programs: the code of this size; else 0.
int64_t size_of_numbers(const Tensor& a, const Tensor& b, const std::string& location) {
  const Tensor one = only_value(a), other = only_value(b);
  if (!one || !other) return 0;
  const double x = one.item(), y = other.item();
  const bool are_sizes = x != y && x > 0 && y > 0 && x == std::floor(x) && y == std::floor(y);
  return are_sizes ? size_by_two_traces(std::llround(x), std::llround(y), location) : 0;
}

bool is_arithmetic_sequence(const Tensor& numbers, const Tensor& first, const Tensor& step) {
  Shape column = step.shape();
  for (int i = 0; i < column.rank(); ++i) column.set(i, i == 0 ? numbers.dim(0) : 1);
  const Tensor places = ops::reshape(ops::arange(numbers.dim(0), step.dtype()), column);
  return same_bytes(first + places * step, numbers);
}

/// Removes the leading axes of size 1.
Tensor in_rows(const Tensor& tensor) {
  int first = 0;
  while (first + 1 < tensor.rank() && tensor.dim(first) == 1) ++first;
  return ops::reshape(tensor, tensor.shape().slice(first, tensor.rank()));
}

/// The arithmetic progression of rows that is `a` in one program and `b` in the other; fails if the
/// rows are no such progression.
RowProgression row_progression(const Tensor& a, const Tensor& b, const std::string& location) {
  if (a.rank() == 0 || b.rank() == 0 || a.dim(0) < 2 || a.dim(0) == b.dim(0)) refuse(location);
  const Tensor first = a.view_rows(0, 1), other_first = b.view_rows(0, 1),
               step = a.view_rows(1, 1) - first, other_step = b.view_rows(1, 1) - other_first;
  if (!same_bytes(first, other_first) || !is_arithmetic_sequence(a, first, step) ||
      !is_arithmetic_sequence(b, other_first, other_step))
    refuse(location);
  RowProgression counted{first, step, size_by_two_traces(a.dim(0), b.dim(0), location), 0};
  if (!same_bytes(step, other_step))
    counted.step_size = size_of_numbers(step, other_step, location);
  if (!same_bytes(step, other_step) && counted.step_size == 0) refuse(location);
  return counted;
}

void compare_constants(Traced& traced, const Program& b) {
  const auto& constants = traced.program.constants;
  const std::string location = "a constant of the model";
  if (constants.size() != b.constants.size()) refuse(location);
  for (size_t i = 0; i < constants.size(); ++i) {
    const Tensor &one = constants[i].tensor, &other = b.constants[i].tensor;
    if (constants[i].value != b.constants[i].value) refuse(location);
    if (same_bytes(one, other)) continue;
    if (one.spec() == other.spec()) {
      const int64_t size = size_of_numbers(one, other, location);
      if (size == 0) refuse(location);
      traced.symbolic_values[constants[i].value] = size;
      continue;
    }
    const Tensor value = only_value(one), same = only_value(other);
    if (value && same && same_bytes(value, same))
      traced.fill_values[constants[i].value] = value;
    else
      traced.progressions[constants[i].value] =
          row_progression(in_rows(one), in_rows(other), location);
  }
}

/// For each axis, whether the slices in the two programs begin at the same distance from the end of
/// the axis. The slices may differ only along such axes and along axes that are taken whole.
std::vector<bool> from_end(const Traced& traced, const Program& b, size_t at) {
  const Program::Instruction& code = traced.program.code[at];
  const auto &one = static_cast<const Slice&>(*code.op),
             &other = static_cast<const Slice&>(*b.code[at].op);
  const auto in = static_cast<size_t>(code.inputs[0]), out = static_cast<size_t>(code.outputs[0]);
  const Shape &from = traced.program.values[in].shape, &other_from = b.values[in].shape;
  std::vector<bool> ends(one.start.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    const int axis = static_cast<int>(i);
    const bool is_taken_whole =
        traced.sizes[in][i] == traced.sizes[out][i] && one.start[i] == 0 && other.start[i] == 0;
    ends[i] = one.start[i] != other.start[i];
    const bool begins_at_same_distance =
        ends[i] ? one.start[i] - from[axis] == other.start[i] - other_from[axis]
                : one.start[i] == other.start[i];
    if (!begins_at_same_distance || one.stride[i] != other.stride[i] ||
        (one.size[i] != other.size[i] && !is_taken_whole))
      refuse(place_of(traced.program, code));
  }
  return ends;
}

/// Whether sizes among the op's attributes may differ between the two programs, because they also
/// appear in the shapes of its results or are not written to the graph.
bool may_differ_in_sizes(const Op& op) {
  return dynamic_cast<const Reshape*>(&op) || dynamic_cast<const BroadcastTo*>(&op) ||
         dynamic_cast<const ConvBackwardData*>(&op) || dynamic_cast<const CheckIndices*>(&op) ||
         dynamic_cast<const TopK*>(&op);
}

void compare_instruction(Traced& traced, const Program& b, size_t at) {
  const Program::Instruction &one = traced.program.code[at], &other = b.code[at];
  const std::string location = place_of(traced.program, one);
  if (one.op->name() != other.op->name() || one.inputs != other.inputs ||
      one.outputs != other.outputs)
    refuse(location);
  const auto *scan = dynamic_cast<const Scan*>(one.op.get()),
             *scan_b = dynamic_cast<const Scan*>(other.op.get());
  if (scan && scan_b) {
    traced.bodies.emplace(at, compare_programs(*scan->body, *scan_b->body));
  } else if (dynamic_cast<const Slice*>(one.op.get())) {
    traced.from_end.emplace(at, from_end(traced, b, at));
  } else if (!may_differ_in_sizes(*one.op) && !one.op->equals(*other.op)) {
    refuse(location);
  }
}

/// Removes instructions whose results are not read, such as losses that a call adds.
void drop_unread(Program& program) {
  std::vector<bool> read(program.values.size());
  auto is_read = [&](int value) { return read[value]; };
  auto mark = [&](const std::vector<int>& values) {
    for (int value : values) read[value] = true;
  };
  mark(program.outputs);
  std::vector<Program::Instruction> needed_code;
  for (size_t i = program.code.size(); i-- > 0;) {
    const auto& outputs = program.code[i].outputs;
    if (std::none_of(outputs.begin(), outputs.end(), is_read)) continue;
    mark(program.code[i].inputs);
    needed_code.push_back(std::move(program.code[i]));
  }
  program.code.assign(std::make_move_iterator(needed_code.rbegin()),
                      std::make_move_iterator(needed_code.rend()));
  std::erase_if(program.constants, [&](const Program::Constant& c) { return !is_read(c.value); });
}

}  // namespace

std::string place_of(const Program& program, const Program::Instruction& instruction) {
  const std::string& scope = program.scopes[instruction.scope];
  return concat(scope.empty() ? "the model" : concat("'", scope, "'"), " (",
                instruction.op->label(), ")");
}

Traced compare_programs(Program a, Program b) {
  drop_unread(a);
  drop_unread(b);
  Traced traced{std::move(a), {}, {}, {}, {}, {}, {}};
  const Program& program = traced.program;
  if (program.values.size() != b.values.size() || program.code.size() != b.code.size() ||
      program.inputs != b.inputs || program.outputs != b.outputs ||
      program.variables.size() != b.variables.size())
    refuse("the model");
  std::vector<std::string> makers(program.values.size());
  for (int value : program.inputs) makers[value] = "an input";
  for (const Program::Binding& binding : program.variables)
    makers[binding.value] = binding.variable.path();
  for (const Program::Constant& c : program.constants) makers[c.value] = "a constant of the model";
  for (const Program::Instruction& i : program.code)
    for (int value : i.outputs) makers[value] = place_of(program, i);
  for (size_t v = 0; v < program.values.size(); ++v)
    traced.sizes.push_back(makers[v].empty() ? Sizes()
                                             : sizes_by_two_traces(program.values[v].shape,
                                                                   b.values[v].shape, makers[v]));
  compare_constants(traced, b);
  for (size_t i = 0; i < program.code.size(); ++i) compare_instruction(traced, b, i);
  return traced;
}

}  // namespace crescent::onnx
