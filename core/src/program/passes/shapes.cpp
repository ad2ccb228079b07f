// Shapes: rearrangements that do nothing, undo each other or are a reshape (which costs nothing),
// and reductions of what was only repeated.
//
//   %2 = transpose(%0 (1, 5))          %4 = reshape(%0)
//   %3 = reshape(%2)            ->
#include <algorithm>
#include <numeric>

#include "program/passes/passes.h"
#include "program/passes/rewriting.h"

namespace crescent::passes {
namespace {

/// The result has the input's spec for sure.
bool keeps_spec(Rewriting& r, const Instruction& i) {
  const TensorSpec in = r.spec(i.inputs[0]);
  return in.shape.is_known() && in == r.result(i);
}

int fill_again(Rewriting& r, const Instruction& i) {
  const auto number = r.uniform(i.inputs[0]);
  const TensorSpec wanted = r.result(i);
  if (!number || !wanted.shape.is_known()) return kKeep;
  Fill op;
  op.shape = wanted.shape, op.dtype = wanted.dtype, op.value = *number;
  return r.add(op, {});
}

int simplify_reshape(Rewriting& r, const Instruction& i) {
  const int x = i.inputs[0];
  const Shape shape = r.result(i).shape;
  if (r.shape(x).is_known() && r.shape(x) == shape) return x;
  auto* inner = r.made_by<Reshape>(x);
  return inner && shape.is_known() ? r.reshaped(inner->inputs[0], shape) : kKeep;
}

int simplify_broadcast(Rewriting& r, const Instruction& i) {
  if (keeps_spec(r, i)) return i.inputs[0];
  auto* inner = r.made_by<BroadcastTo>(i.inputs[0]);
  return inner ? r.add(i.op, {inner->inputs[0]}) : kKeep;
}

// ---- transpose

/// Only axes of one element change places.
bool keeps_order(const std::vector<int>& axes, const Shape& shape) {
  int last = -1;
  for (int axis : axes) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

int simplify_transpose(Rewriting& r, const Instruction& i) {
  const int x = i.inputs[0];
  const auto& axes = op_of<Transpose>(i).axes;
  if (std::is_sorted(axes.begin(), axes.end())) return x;
  const Shape shape = r.result(i).shape;
  if (shape.is_known() && keeps_order(axes, r.shape(x))) return r.reshaped(x, shape);
  auto* inner = r.made_by<Transpose>(x);
  if (!inner) return kKeep;
  Transpose both;
  for (int axis : axes)
    both.axes.push_back(op_of<Transpose>(*inner).axes[static_cast<size_t>(axis)]);
  return r.add(both, {inner->inputs[0]});
}

// ---- parts

bool all_are(const std::vector<int64_t>& list, int64_t number) {
  return std::all_of(list.begin(), list.end(), [number](int64_t n) { return n == number; });
}

int simplify_slice(Rewriting& r, const Instruction& i) {
  const auto& op = op_of<Slice>(i);
  return keeps_spec(r, i) && all_are(op.start, 0) && all_are(op.stride, 1) ? i.inputs[0] : kKeep;
}

int simplify_pad(Rewriting&, const Instruction& i) {
  const auto& op = op_of<Pad>(i);
  return all_are(op.before, 0) && all_are(op.after, 0) && all_are(op.inner, 0) ? i.inputs[0]
                                                                               : kKeep;
}

int simplify_concat(Rewriting&, const Instruction& i) {
  return i.inputs.size() == 1 ? i.inputs[0] : kKeep;
}

bool flips_nothing(const Reverse& op, const Shape& shape) {
  return std::all_of(op.axes.begin(), op.axes.end(), [&](int axis) { return shape[axis] == 1; });
}

int simplify_reverse(Rewriting& r, const Instruction& i) {
  const int x = i.inputs[0];
  if (flips_nothing(op_of<Reverse>(i), r.shape(x))) return x;
  auto* inner = r.made_by<Reverse>(x);
  return inner && inner->op->equals(*i.op) ? inner->inputs[0] : kKeep;
}

// ---- reductions

/// What a reduction makes of `count` times the same number.
std::optional<double> reduced(ReduceKind kind, double number, int64_t count) {
  switch (kind) {
    case ReduceKind::sum:
      return number * static_cast<double>(count);
    case ReduceKind::prod:
      return {};
    default:
      return number;
  }
}

int64_t count_of(const Reduce& op, const Shape& shape) {
  return std::accumulate(op.axes.begin(), op.axes.end(), int64_t{1},
                         [&](int64_t n, int axis) { return n * shape[axis]; });
}

int reduce_fill(Rewriting& r, const Instruction& i) {
  const auto& op = op_of<Reduce>(i);
  const TensorSpec x = r.spec(i.inputs[0]), wanted = r.result(i);
  const auto number = r.uniform(i.inputs[0]);
  if (!number || !x.shape.is_known() || x.dtype != wanted.dtype) return kKeep;
  const int64_t count = count_of(op, x.shape);
  const auto result = reduced(op.kind, *number, count);
  if (!result || count == 0) return kKeep;
  Fill fill;
  fill.shape = wanted.shape, fill.dtype = wanted.dtype, fill.value = *result;
  return r.add(fill, {});
}

/// The shape of `source`, stretched to rank `rank`, has one element along all of the axes.
bool was_repeated(const Shape& source, int rank, const std::vector<int>& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](int axis) {
    const int own = axis - (rank - source.rank());
    return own < 0 || source[own] == 1;
  });
}

/// The result's shape before stretching: `source` without the reduced axes, or with ones there.
Shape reduced_shape(const Shape& source, int rank, const Reduce& op) {
  Shape shape;
  for (int own = 0; own < source.rank(); ++own) {
    const bool gone =
        std::binary_search(op.axes.begin(), op.axes.end(), own + rank - source.rank());
    if (!gone || op.keepdims) shape.append(source[own]);
  }
  return shape;
}

/// A reduction along axes that hold one element, or the same one again and again.
int reduce_repeated(Rewriting& r, const Instruction& i) {
  const auto& op = op_of<Reduce>(i);
  const int x = i.inputs[0];
  const TensorSpec spec = r.spec(x), wanted = r.result(i);
  auto* stretch = r.made_by<BroadcastTo>(x);
  const int source = stretch ? stretch->inputs[0] : x;
  const Shape shape = r.shape(source);
  const bool fits = spec.shape.is_known() && shape.is_known() && spec.dtype == wanted.dtype &&
                    count_of(op, spec.shape) > 0 && was_repeated(shape, spec.shape.rank(), op.axes);
  const auto factor = fits ? reduced(op.kind, 1, count_of(op, spec.shape)) : std::nullopt;
  if (!factor) return kKeep;
  int y = r.reshaped(source, reduced_shape(shape, spec.shape.rank(), op));
  if (op.kind == ReduceKind::sum && *factor != 1)
    y = r.add_binary(BinaryKind::multiply, y, r.add_scalar(*factor, spec.dtype));
  return r.stretched(y, wanted);
}

constexpr RuleRow kShapesRules[] = {
    {Reshape::kName, simplify_reshape},
    {Reshape::kName, fill_again},
    {BroadcastTo::kName, simplify_broadcast},
    {BroadcastTo::kName, fill_again},
    {Transpose::kName, fill_again},
    {Transpose::kName, simplify_transpose},
    {Slice::kName, simplify_slice},
    {Slice::kName, fill_again},
    {Pad::kName, simplify_pad},
    {Concat::kName, simplify_concat},
    {Reverse::kName, simplify_reverse},
    {Reduce::kName, reduce_fill},
    {Reduce::kName, reduce_repeated},
};

}  // namespace

bool shapes(Program& program) { return rewrite(program, kShapesRules); }

}  // namespace crescent::passes
