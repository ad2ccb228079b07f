// Division: how processes divide a weight that does not fit the memory of one of them. Each process
// has a part of the weight along one axis, and of the optimizer's state for it; a step gathers the
// whole weight where it is read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/program/op_types.h"
#include "crescent/tensor/variable.h"

namespace crescent {

/// The parts of an array along `axis`. Of `processes` processes, the one of rank r has part number
/// r / stride % parts; with several axes of a mesh, processes may have equal parts.
struct Division {
  int axis = 0;  ///< not negative
  int parts = 1, stride = 1, processes = 1;

  int part_of(int rank) const { return rank / stride % parts; }
  /// The first index of a part of an axis of `size` elements; that of part `parts` is `size`.
  int64_t begin(int part, int64_t size) const { return size * part / parts; }
  /// The number of processes that have equal parts.
  int copies() const { return processes / parts; }
  bool operator==(const Division&) const = default;
};

// clang-format off
/// (part of this process) -> the whole array, in every process. `size` is the number of elements of
/// the whole array along `axis`. The gradient is this process's part of the gradient of the whole
/// array. If `partial`, each process computes that gradient for a share of a batch, and the
/// gradients are summed over the processes.
CRESCENT_OP(AllGather, "all_gather")
  int axis = 0, parts = 1, stride = 1, processes = 1;
  int part = 0;  ///< the part of this process
  int64_t size = 0;
  bool partial = false;
  CRESCENT_FIELDS(axis, parts, stride, processes, part, size, partial)
  CRESCENT_TAKES_ALL
  Effect effect() const override { return Effect::ordered; }
  Tensors vjp(const Vjp&) const override;
  Division division() const { return {axis, parts, stride, processes}; }
};
// clang-format on

/// The division of the weights whose path is `pattern`, or contains a match of the regular
/// expression `pattern`.
struct WeightLayout {
  std::string pattern;
  int rank = 0;                      ///< the number of axes of the layout
  std::optional<Division> division;  ///< none: every process has whole weights
};

/// Sets the layouts of the trainable floating-point weights that layers make after the call;
/// weights without a layout are whole.
CRESCENT_API void set_layouts(std::vector<WeightLayout> layouts);
CRESCENT_API const std::vector<WeightLayout>& layouts();
/// The division of a weight with this path; none while this process computes alone. Fails if
/// several patterns match the path, or if the layout has more axes than the weight.
CRESCENT_API std::optional<Division> division_for(const std::string& path, const Shape& shape);

/// The division of the variable; null if every process has the whole value. For a divided variable,
/// shape() returns the shape of the whole value; value(), which all processes must call, gathers
/// the whole value; and assign() takes the part of this process.
CRESCENT_API const Division* division_of(const Variable& variable);
/// Whether one of the variables is divided.
CRESCENT_API bool any_divided(const Variables& variables);

}  // namespace crescent
