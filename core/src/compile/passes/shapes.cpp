// Shapes: removes rearrangements of elements that have no effect or cancel each other, replaces
// others by reshapes, which cost nothing, and removes reductions over axes that were broadcast.
//
//   %2 = transpose(%0 (1, 5))          %4 = reshape(%0)
//   %3 = reshape(%2)            ->
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compile/passes/passes.h"
#include "compile/passes/rounding.h"
#include "tensor/elements.h"

namespace crescent::passes {
namespace {

// ---- rearrangements that keep the order of elements

/// Whether the result of the instruction is known to have the spec of its input x.
bool keeps_spec(const Rewriting& r, const Match& m) {
  const TensorSpec x = r.spec(m['x']);
  return x.shape.is_known() && x == r.result(m.call());
}
bool is_known(const Rewriting& r, const Match& m) { return r.result(m.call()).shape.is_known(); }

constexpr Condition kSameSpec{"the shape is that of x", keeps_spec};
constexpr Condition kShapeIsKnown{"the shape of the result is known", is_known};

int reshape_input(Rewriting& r, const Match& m) {
  return r.reshaped(m['x'], r.result(m.call()).shape);
}

int broadcast_input(Rewriting& r, const Match& m) { return r.add(m.call().op, {m['x']}); }

int fill(Rewriting& r, const Match& m) {
  const TensorSpec wanted_spec = r.result(m.call());
  Fill op;
  op.shape = wanted_spec.shape, op.dtype = wanted_spec.dtype, op.value = m.number('n');
  return r.add(op, {});
}

// ---- transpose

/// Whether the permutation moves only axes of size 1.
bool keeps_order(const std::vector<int>& axes, const Shape& shape) {
  int last_axis = -1;
  for (int axis : axes) {
    if (shape[axis] == 1) continue;
    if (axis < last_axis) return false;
    last_axis = axis;
  }
  return true;
}

constexpr Condition kNoElementMoves{"axes of one element alone change places",
                                    [](const Rewriting& r, const Match& m) {
                                      const auto& axes = m.op<Transpose>().axes;
                                      return std::is_sorted(axes.begin(), axes.end()) ||
                                             (is_known(r, m) && keeps_order(axes, r.shape(m['x'])));
                                    }};

int transpose_once(Rewriting& r, const Match& m) {
  Transpose combined_transpose;
  for (int axis : m.op<Transpose>().axes)
    combined_transpose.axes.push_back(m.op<Transpose>(1).axes[axis]);
  return r.add(combined_transpose, {m['x']});
}

// ---- slices, padding and reversal

bool all_equal(const std::vector<int64_t>& list, int64_t number) {
  return std::all_of(list.begin(), list.end(), [number](int64_t n) { return n == number; });
}

constexpr Condition kWholeSlice{"it is all of x", [](const Rewriting& r, const Match& m) {
                                  const auto& op = m.op<Slice>();
                                  return keeps_spec(r, m) && all_equal(op.start, 0) &&
                                         all_equal(op.stride, 1);
                                }};
constexpr Condition kNoPadding{"nothing is added", [](const Rewriting&, const Match& m) {
                                 const auto& op = m.op<Pad>();
                                 return all_equal(op.before, 0) && all_equal(op.after, 0) &&
                                        all_equal(op.inner, 0);
                               }};
constexpr Condition kFlipsNothing{
    "the axes have one element", [](const Rewriting& r, const Match& m) {
      const auto& axes = m.op<Reverse>().axes;
      const Shape shape = r.shape(m['x']);
      return std::all_of(axes.begin(), axes.end(), [&](int axis) { return shape[axis] == 1; });
    }};
constexpr Condition kSameAxes{"both of the same axes", [](const Rewriting&, const Match& m) {
                                return m.call(1).op->equals(*m.call().op);
                              }};

// ---- reductions

/// The result of reducing a number that is repeated `count` times.
std::optional<double> reduced_number(ReduceKind kind, double number, int64_t count) {
  switch (kind) {
    case ReduceKind::sum:
      return number * static_cast<double>(count);
    case ReduceKind::prod:
      return {};
    default:
      return number;
  }
}

/// Whether the dtype represents the number. For an integer dtype, the number must be in the range
/// of the dtype and be exact in double; for a floating dtype, the number may be rounded.
bool is_exact(double number, DType dtype) {
  if (is_floating(dtype)) return true;
  return std::abs(number) < 0x1p53 && with_element_type(dtype, [&]<class T>(T* t) {
           return number_of(element_of(number, t)) == number;
         });
}

int64_t count_reduced_elements(const Reduce& op, const Shape& shape) {
  return std::accumulate(op.axes.begin(), op.axes.end(), int64_t{1},
                         [&](int64_t n, int axis) { return n * shape[axis]; });
}

int reduce_fill(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const auto& op = op_of<Reduce>(i);
  const TensorSpec x = r.spec(i.inputs[0]), wanted_spec = r.result(i);
  if (!x.shape.is_known() || x.dtype != wanted_spec.dtype) return kKeep;
  const int64_t count = count_reduced_elements(op, x.shape);
  const auto result = reduced_number(op.kind, m.number('n'), count);
  if (!result || count == 0 || !is_exact(*result, wanted_spec.dtype)) return kKeep;
  Fill fill;
  fill.shape = wanted_spec.shape, fill.dtype = wanted_spec.dtype, fill.value = *result;
  return r.add(fill, {});
}

/// Whether `source`, broadcast to rank `rank`, has size 1 along all of the axes.
bool was_repeated(const Shape& source, int rank, const std::vector<int>& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](int axis) {
    const int source_axis = axis - (rank - source.rank());
    return source_axis < 0 || source[source_axis] == 1;
  });
}

/// The shape of the result before the broadcast: `source` without the reduced axes, or with size 1
/// there.
Shape reduced_shape(const Shape& source, int rank, const Reduce& op) {
  Shape shape;
  for (int source_axis = 0; source_axis < source.rank(); ++source_axis) {
    const bool is_removed =
        std::binary_search(op.axes.begin(), op.axes.end(), source_axis + rank - source.rank());
    if (!is_removed || op.keepdims) shape.append(source[source_axis]);
  }
  return shape;
}

/// The value times `count`. Half-width floats are multiplied in float32, because a sum of such
/// values is computed in float32, too.
int multiply_by_count(Rewriting& r, int value, double count) {
  const DType dtype = r.dtype(value);
  const DType wide_dtype = is_floating(dtype) && size_of(dtype) == 2 ? DType::float32 : dtype;
  const int scaled_sum = r.add_binary(BinaryKind::multiply, as_dtype(r, value, wide_dtype),
                                      r.add_scalar(count, wide_dtype));
  return as_dtype(r, scaled_sum, dtype);
}

/// Replaces a reduction along axes that have size 1 or were broadcast, where all reduced elements
/// are equal.
int reduce_repeated(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const auto& op = op_of<Reduce>(i);
  const int x = i.inputs[0];
  const TensorSpec spec = r.spec(x), wanted_spec = r.result(i);
  auto* broadcast = r.producer_as<BroadcastTo>(x);
  const int source = broadcast ? broadcast->inputs[0] : x;
  const Shape shape = r.shape(source);
  const bool can_fold =
      spec.shape.is_known() && shape.is_known() && spec.dtype == wanted_spec.dtype &&
      count_reduced_elements(op, spec.shape) > 0 && was_repeated(shape, spec.shape.rank(), op.axes);
  const auto factor =
      can_fold ? reduced_number(op.kind, 1, count_reduced_elements(op, spec.shape)) : std::nullopt;
  if (!factor || !is_exact(*factor, spec.dtype)) return kKeep;
  int y = r.reshaped(source, reduced_shape(shape, spec.shape.rank(), op));
  if (op.kind == ReduceKind::sum && *factor != 1) y = multiply_by_count(r, y, *factor);
  return r.broadcast_value(y, wanted_spec);
}

constexpr Condition kReduced{"the result is one of the dtype, and no product is taken"};
constexpr Condition kRepeated{
    "along the axes x has one element, or was stretched; no product is taken"};

constexpr RewriteRule kShapeRules[] = {
    {"reshape(x)", "x", kSameSpec},
    {"reshape(reshape(x))", "reshape(x)", kShapeIsKnown, reshape_input},
    {"reshape(n)", "fill(n)", kShapeIsKnown, fill},
    {"broadcast_to(x)", "x", kSameSpec},
    {"broadcast_to(broadcast_to(x))", "broadcast_to(x)", {}, broadcast_input},
    {"broadcast_to(n)", "fill(n)", kShapeIsKnown, fill},
    {"transpose(n)", "fill(n)", kShapeIsKnown, fill},
    {"transpose(x)", "reshape(x)", kNoElementMoves, reshape_input},
    {"transpose(transpose(x))", "transpose(x)", {}, transpose_once},
    {"slice(x)", "x", kWholeSlice},
    {"slice(n)", "fill(n)", kShapeIsKnown, fill},
    {"pad(x)", "x", kNoPadding},
    {"concat(x)", "x"},
    {"reverse(x)", "x", kFlipsNothing},
    {"reverse(reverse(x))", "x", kSameAxes},
    {"reduce(n)", "fill(n)", kReduced, reduce_fill, Digits::rounded},
    {"reduce(x)", "broadcast_to(multiply(reshape(x), count))", kRepeated, reduce_repeated,
     Digits::rounded},
};

}  // namespace

const RuleTable& shape_rules() {
  static const RuleTable table("shapes", kShapeRules);
  return table;
}

bool shapes(Program& program) { return shape_rules().rewrite(program); }

}  // namespace crescent::passes
