#include "two_traces.h"

#include <algorithm>
#include <cstring>

#include "crescent/ops.h"

namespace crescent::onnx {
namespace {

[[noreturn]] void refuse(const std::string& place) {
  fail(place, ": its result depends on the size of the batch, which a graph of ONNX does not know");
}

int64_t size_of_both(int64_t a, int64_t b, const std::string& place) {
  if (a == b) return a;
  const int64_t times = a / kBatches[0];
  if (a != times * kBatches[0] || b != times * kBatches[1]) refuse(place);
  return -times;
}

Sizes sizes_of_both(const Shape& a, const Shape& b, const std::string& place) {
  if (a.rank() != b.rank()) refuse(place);
  Sizes sizes;
  for (int i = 0; i < a.rank(); ++i) sizes.push_back(size_of_both(a[i], b[i], place));
  return sizes;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// The one number that all elements are; no tensor when they are several.
Tensor only_value(const Tensor& tensor) {
  const auto* bytes = static_cast<const char*>(tensor.raw());
  const size_t width = size_of(tensor.dtype());
  for (size_t at = width; at < tensor.bytes(); at += width)
    if (std::memcmp(bytes, bytes + at, width) != 0) return {};
  Tensor value(TensorSpec{tensor.dtype(), Shape{1}});
  std::memcpy(value.mutable_raw(), bytes, width);
  return value;
}

Tensor rows(const Counted& counted, int64_t count) {
  const Tensor& step = counted.step;
  Shape column = step.shape();
  for (int i = 0; i < column.rank(); ++i) column.set(i, i == 0 ? count : 1);
  return counted.first + ops::reshape(ops::arange(count, step.dtype()), column) * step;
}

/// How the rows of both go on.
Counted counting(const Tensor& a, const Tensor& b, const std::string& place) {
  if (a.rank() == 0 || a.dim(0) != kBatches[0] || b.dim(0) != kBatches[1]) refuse(place);
  const Tensor first = a.view_rows(0, 1);
  const Counted counted{first, a.view_rows(1, 1) - first};
  if (!same_bytes(rows(counted, a.dim(0)), a) || !same_bytes(rows(counted, b.dim(0)), b))
    refuse(place);
  return counted;
}

void compare_constants(Traced& traced, const Program& b) {
  const auto& constants = traced.program.constants;
  const std::string place = "a constant of the model";
  if (constants.size() != b.constants.size()) refuse(place);
  for (size_t i = 0; i < constants.size(); ++i) {
    const Tensor &one = constants[i].tensor, &other = b.constants[i].tensor;
    if (constants[i].value != b.constants[i].value) refuse(place);
    if (same_bytes(one, other)) continue;
    if (one.spec() == other.spec()) refuse(place);
    const Tensor value = only_value(one), same = only_value(other);
    if (value && same && same_bytes(value, same))
      traced.filled[constants[i].value] = value;
    else
      traced.counted[constants[i].value] = counting(one, other, place);
  }
}

/// A slice may differ along axes that it takes whole.
bool cuts_alike(const Slice& a, const Slice& b, const Sizes& from, const Sizes& to) {
  for (size_t i = 0; i < from.size(); ++i) {
    const bool whole = from[i] == to[i] && a.start[i] == 0 && b.start[i] == 0;
    if (a.start[i] != b.start[i] || a.stride[i] != b.stride[i] ||
        (a.size[i] != b.size[i] && !whole))
      return false;
  }
  return true;
}

/// What these hold of the batch is seen in the shapes of their results, or is not in the graph.
bool says_shapes(const Op& op) {
  return dynamic_cast<const Reshape*>(&op) || dynamic_cast<const BroadcastTo*>(&op) ||
         dynamic_cast<const ConvBackwardData*>(&op) || dynamic_cast<const CheckIndices*>(&op);
}

void compare_instruction(Traced& traced, const Program& b, size_t at) {
  const Program::Instruction &one = traced.program.code[at], &other = b.code[at];
  const std::string place = place_of(traced.program, one);
  if (one.op->name() != other.op->name() || one.inputs != other.inputs ||
      one.outputs != other.outputs)
    refuse(place);
  const auto *scan = dynamic_cast<const Scan*>(one.op.get()),
             *scan_b = dynamic_cast<const Scan*>(other.op.get());
  const auto *slice = dynamic_cast<const Slice*>(one.op.get()),
             *slice_b = dynamic_cast<const Slice*>(other.op.get());
  if (scan && scan_b) {
    traced.bodies.emplace(at, compared(*scan->body, *scan_b->body));
  } else if (slice && slice_b) {
    auto sizes = [&](int value) { return traced.sizes[static_cast<size_t>(value)]; };
    if (!cuts_alike(*slice, *slice_b, sizes(one.inputs[0]), sizes(one.outputs[0]))) refuse(place);
  } else if (!says_shapes(*one.op) && !one.op->equals(*other.op)) {
    refuse(place);
  }
}

/// Losses, for one, are recorded with a call and not part of what it gives.
void drop_unread(Program& program) {
  std::vector<bool> read(program.values.size());
  auto is_read = [&](int value) { return read[static_cast<size_t>(value)]; };
  auto mark = [&](const std::vector<int>& values) {
    for (int value : values) read[static_cast<size_t>(value)] = true;
  };
  mark(program.outputs);
  std::vector<Program::Instruction> kept;
  for (size_t i = program.code.size(); i-- > 0;) {
    const auto& outputs = program.code[i].outputs;
    if (std::none_of(outputs.begin(), outputs.end(), is_read)) continue;
    mark(program.code[i].inputs);
    kept.push_back(std::move(program.code[i]));
  }
  program.code.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  std::erase_if(program.constants, [&](const Program::Constant& c) { return !is_read(c.value); });
}

}  // namespace

std::string place_of(const Program& program, const Program::Instruction& instruction) {
  const std::string& scope = program.scopes[static_cast<size_t>(instruction.scope)];
  return concat(scope.empty() ? "the model" : concat("'", scope, "'"), " (",
                instruction.op->label(), ")");
}

Traced compared(Program a, Program b) {
  drop_unread(a);
  drop_unread(b);
  Traced traced{std::move(a), {}, {}, {}, {}};
  const Program& program = traced.program;
  if (program.values.size() != b.values.size() || program.code.size() != b.code.size() ||
      program.inputs != b.inputs || program.outputs != b.outputs ||
      program.variables.size() != b.variables.size())
    refuse("the model");
  std::vector<std::string> makers(program.values.size());
  for (int value : program.inputs) makers[static_cast<size_t>(value)] = "an input";
  for (const Program::Binding& binding : program.variables)
    makers[static_cast<size_t>(binding.value)] = binding.variable.path();
  for (const Program::Constant& c : program.constants)
    makers[static_cast<size_t>(c.value)] = "a constant of the model";
  for (const Program::Instruction& i : program.code)
    for (int value : i.outputs) makers[static_cast<size_t>(value)] = place_of(program, i);
  for (size_t v = 0; v < program.values.size(); ++v)
    traced.sizes.push_back(
        makers[v].empty() ? Sizes()
                          : sizes_of_both(program.values[v].shape, b.values[v].shape, makers[v]));
  compare_constants(traced, b);
  for (size_t i = 0; i < program.code.size(); ++i) compare_instruction(traced, b, i);
  return traced;
}

}  // namespace crescent::onnx
