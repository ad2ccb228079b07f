#include "compile/passes/chunks/rows.h"

#include <algorithm>

namespace crescent::passes {
namespace {

/// The value of RowRoles::depth for a Reshape. A Reshape keeps the order of elements, so any number
/// of first axes may be cut.
constexpr int kAnyDepth = 64;

class RowRoleFinder {
 public:
  RowRoleFinder(const Program& program, const Instruction& instruction)
      : program_(program), i_(instruction) {}

  std::optional<RowRoles> find() const {
    if (i_.op->effect() != Effect::none || i_.inputs.empty()) return {};
    RowRoles roles = candidate_roles();
    if (!as<Reshape>(*i_.op)) roles.depth = std::min(roles.depth, count_common_axes(roles));
    return roles.depth > 0 ? std::optional(roles) : std::nullopt;
  }

 private:
  const Shape& input(size_t k) const { return program_.values[i_.inputs[k]].shape; }
  RowRoles all_rows(int depth, RowRole output_role = RowRole::rows) const {
    return {std::vector(i_.inputs.size(), RowRole::rows),
            std::vector(i_.outputs.size(), output_role), depth};
  }

  /// The roles of the instruction; RowRoles::depth is 0 if rows depend on each other.
  RowRoles candidate_roles() const {
    const int rank = input(0).rank();
    const auto rows_up_to = [&](int axis) { return all_rows(axis < 0 ? axis + rank : axis); };
    if (is_elementwise(*i_.op)) return elementwise();
    if (as<Reshape>(*i_.op)) return all_rows(kAnyDepth);
    if (as<OneHot>(*i_.op) || as<StopGradient>(*i_.op)) return all_rows(rank);
    if (as<SoftmaxCrossEntropy>(*i_.op) || as<SoftmaxCrossEntropyBackward>(*i_.op) ||
        as<TopK>(*i_.op))
      return rows_up_to(-1);
    if (const auto* softmax = as<Softmax>(*i_.op)) return rows_up_to(softmax->axis);
    if (const auto* arg_reduce = as<ArgReduce>(*i_.op)) return rows_up_to(arg_reduce->axis);
    if (const auto* take_along = as<TakeAlong>(*i_.op)) return rows_up_to(take_along->axis);
    if (const auto* product = as<Matmul>(*i_.op)) return matmul(*product);
    if (const auto* reduce = as<Reduce>(*i_.op)) return reduction(*reduce);
    return {};
  }

  /// An operand that does not vary along the first axis gets RowRole::whole. None of its axes may
  /// be cut, so it limits the depth.
  RowRoles elementwise() const {
    const Shape& shape = program_.values[i_.outputs[0]].shape;
    RowRoles roles = all_rows(shape.rank());
    for (size_t k = 0; k < i_.inputs.size(); ++k) {
      const int missing_axes = shape.rank() - input(k).rank();
      if (missing_axes == 0 && shape.rank() > 0 && input(k)[0] == shape[0]) continue;
      roles.inputs[k] = RowRole::whole;
      const auto varies = [](int64_t n) { return n != 1; };
      const auto row_axis = std::find_if(input(k).begin(), input(k).end(), varies);
      roles.depth =
          std::min(roles.depth, missing_axes + static_cast<int>(row_axis - input(k).begin()));
    }
    return roles;
  }

  RowRoles matmul(const Matmul& product) const {
    const int rank = input(0).rank();
    if (input(1).rank() != 2) return {};
    if (rank == 2 && product.transpose_a)
      return product.transpose_b ? RowRoles() : all_rows(1, RowRole::sum);
    return {{RowRole::rows, RowRole::whole}, {RowRole::rows}, rank - (product.transpose_a ? 2 : 1)};
  }

  RowRoles reduction(const Reduce& reduce) const {
    if (reduce.axes.empty()) return {};
    if (reduce.axes[0] > 0) return all_rows(reduce.axes[0]);
    int depth = 0;
    while (depth < static_cast<int>(reduce.axes.size()) && reduce.axes[depth] == depth) ++depth;
    return reduce.kind == ReduceKind::sum ? all_rows(depth, RowRole::sum) : RowRoles();
  }

  /// The number of first axes on which all values with rows agree.
  int count_common_axes(const RowRoles& roles) const {
    int axes = kAnyDepth;
    const Shape* previous_shape = nullptr;
    const auto limit_axes = [&](const std::vector<int>& values,
                                const std::vector<RowRole>& value_roles) {
      for (size_t k = 0; k < value_roles.size(); ++k) {
        if (value_roles[k] != RowRole::rows) continue;
        const Shape& shape = program_.values[values[k]].shape;
        axes = std::min(axes, shape.rank());
        for (int axis = 0; previous_shape && axis < axes; ++axis)
          if (shape[axis] != (*previous_shape)[axis]) axes = axis;
        previous_shape = &shape;
      }
    };
    limit_axes(i_.inputs, roles.inputs);
    limit_axes(i_.outputs, roles.outputs);
    return axes;
  }

  const Program& program_;
  const Instruction& i_;
};

}  // namespace

std::optional<RowRoles> row_roles(const Program& program, const Instruction& instruction) {
  return RowRoleFinder(program, instruction).find();
}

std::optional<Block> block_of(const Shape& shape, int depth, int64_t begin, int64_t end,
                              int64_t units) {
  Block block{std::vector<int64_t>(static_cast<size_t>(shape.rank())), shape, 0};
  for (int axis = 0; units > 1; ++axis) {
    if (axis >= std::min(depth, shape.rank())) return {};
    const int64_t n = shape[axis], units_of_index = units / n;
    int64_t& start = block.start[static_cast<size_t>(axis)];
    block.axis = axis;
    if (n % units == 0) {
      start = begin * (n / units);
      block.size.set(axis, (end - begin) * (n / units));
      break;
    }
    if (units % n != 0 || begin / units_of_index != (end - 1) / units_of_index) return {};
    start = begin / units_of_index;
    block.size.set(axis, 1);
    begin %= units_of_index, end = (end - 1) % units_of_index + 1, units = units_of_index;
  }
  return block;
}

}  // namespace crescent::passes
