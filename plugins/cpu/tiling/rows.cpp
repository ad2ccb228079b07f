#include "tiling/rows.h"

#include <algorithm>

#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {
namespace {

using Instruction = Program::Instruction;

/// Finds the role (SliceRole) of every value in a program. Inputs that are known to be divided by
/// rows determine the roles of values computed from them; the role of any other input is determined
/// by the first instruction that reads it.
class RowPropagation {
 public:
  RowPropagation(const Program& program, int64_t batch)
      : program_(program), batch_(batch), roles_(program.values.size()) {}

  std::optional<RowwiseProgram> run(size_t row_inputs) {
    for (size_t i = 0; i < row_inputs; ++i)
      role(program_.inputs[i]) = has_batch(program_.inputs[i]) ? SliceRole::rows : SliceRole::whole;
    for (const Program::Constant& c : program_.constants) role(c.value) = SliceRole::whole;
    for (const Instruction& i : program_.code) {
      if (i.op->effect() > Effect::check || !propagate(i)) return {};
    }
    for (int value : program_.outputs) {
      if (!assign_role(value, SliceRole::rows)) return {};
    }
    RowwiseProgram result{program_, batch_, {}};
    for (const std::optional<SliceRole>& role : roles_)
      result.roles.push_back(role.value_or(SliceRole::whole));
    return result;
  }

 private:
  std::optional<SliceRole>& role(int value) { return roles_[value]; }
  const Shape& shape(int value) const { return program_.values[value].shape; }
  bool has_batch(int value) const { return shape(value).rank() > 0 && shape(value)[0] == batch_; }
  bool is_rows(int value) { return role(value) == SliceRole::rows; }

  /// Gives a value the role `new_role` if the value has no role yet; returns whether it has this
  /// role afterwards.
  bool assign_role(int value, SliceRole new_role) {
    std::optional<SliceRole>& current_role = role(value);
    if (!current_role && (new_role == SliceRole::whole || has_batch(value)))
      current_role = new_role;
    return current_role == new_role;
  }
  bool all_get_role(const std::vector<int>& values, SliceRole new_role) {
    return std::all_of(values.begin(), values.end(),
                       [&](int v) { return assign_role(v, new_role); });
  }
  bool assign_all_rows(const Instruction& i) {
    return all_get_role(i.inputs, SliceRole::rows) && all_get_role(i.outputs, SliceRole::rows);
  }

  bool propagate(const Instruction& i) {
    const Op& op = *i.op;
    // The result of a Fill may get the role rows or the role whole, so it gets none yet.
    if (op.name() == Fill::kName && has_batch(i.outputs[0])) return true;
    if (std::none_of(i.inputs.begin(), i.inputs.end(), [&](int v) { return is_rows(v); }))
      return all_get_role(i.inputs, SliceRole::whole) && all_get_role(i.outputs, SliceRole::whole);
    if (is_elementwise(op) || op.name() == Select::kName || op.name() == Cast::kName)
      return assign_elementwise_roles(i);
    if (base_of(op).name() == Matmul::kName) return assign_product_roles(i);
    if (op.name() == "lstm_gates" || op.name() == "lstm_gates_backward") return assign_all_rows(i);
    return keeps_rows_apart(op, i) && assign_all_rows(i);
  }

  bool assign_elementwise_roles(const Instruction& i) {
    const int rank = shape(i.outputs[0]).rank();
    return all_get_role(i.outputs, SliceRole::rows) &&
           std::all_of(i.inputs.begin(), i.inputs.end(), [&](int v) {
             const bool is_divided = shape(v).rank() == rank && has_batch(v);
             return assign_role(v, is_divided ? SliceRole::rows : SliceRole::whole);
           });
  }

  bool assign_product_roles(const Instruction& i) {
    const auto& op = static_cast<const Matmul&>(base_of(*i.op));
    const int left_value = i.inputs[0], right_value = i.inputs[1];
    if (op.transpose_a || shape(left_value).rank() != 2 || shape(right_value).rank() != 2 ||
        !assign_role(left_value, SliceRole::rows) || !assign_role(right_value, SliceRole::whole))
      return false;
    size_t input = 2;
    if (auto* with_post_ops = dynamic_cast<const WithPostOps*>(i.op.get())) {
      for (PostOp post : with_post_ops->post) {
        if (!reads_input(post)) continue;
        if (!assign_role(i.inputs[input++],
                         post == PostOp::bias ? SliceRole::whole : SliceRole::rows))
          return false;
      }
    }
    return all_get_role(i.outputs, SliceRole::rows);
  }

  /// Whether each row (index of axis 0) of the result is computed from the same row of the input
  /// alone.
  bool keeps_rows_apart(const Op& op, const Instruction& i) const {
    const int rank = shape(i.inputs[0]).rank();
    if (auto* reduce = dynamic_cast<const Reduce*>(&op))
      return !reduce->axes.empty() && reduce->axes[0] > 0;
    if (auto* softmax = dynamic_cast<const Softmax*>(&op)) return softmax->axis % rank != 0;
    if (op.name() == BroadcastTo::kName) return shape(i.outputs[0]).rank() == rank;
    if (auto* concat = dynamic_cast<const Concat*>(&op)) return concat->axis > 0;
    if (auto* transpose = dynamic_cast<const Transpose*>(&op)) return transpose->axes[0] == 0;
    if (auto* slice = dynamic_cast<const Slice*>(&op)) return slice->start[0] == 0;
    if (auto* pad = dynamic_cast<const Pad*>(&op))
      return pad->before[0] == 0 && pad->after[0] == 0 && pad->inner[0] == 0;
    return op.name() == Reshape::kName;
  }

  const Program& program_;
  int64_t batch_;
  /// For each value its role; nullopt if it is not known yet.
  std::vector<std::optional<SliceRole>> roles_;
};

}  // namespace

std::optional<RowwiseProgram> as_rowwise(const Program& program, size_t row_inputs) {
  const Shape& first_shape = program.values[program.inputs[0]].shape;
  if (row_inputs == 0 || first_shape.rank() == 0) return {};
  return RowPropagation(program, first_shape[0]).run(row_inputs);
}

Program RowwiseProgram::of(int64_t rows) const {
  Program result = program;
  auto has_rows = [&](int value) { return roles[value] == SliceRole::rows; };
  for (size_t v = 0; v < result.values.size(); ++v) {
    if (roles[v] == SliceRole::rows) result.values[v].shape.set(0, rows);
  }
  for (Instruction& i : result.code) {
    if (has_rows(i.outputs[0])) i.op = with_rows(i.op, rows);
  }
  return result;
}

}  // namespace crescent::cpu
