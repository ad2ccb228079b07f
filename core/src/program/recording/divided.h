// Access to variables that are divided among processes (division.h). Some code works with the part
// of the value that this process has, other code with the whole value.
#pragma once
#include "crescent/program/division.h"

namespace crescent {

/// While an object that was made with on = true lives, spec(), value() and assign() of a divided
/// variable concern the part of this process. Optimizers compute with such parts.
class CRESCENT_API PartAccess {
 public:
  explicit PartAccess(bool on = true);
  ~PartAccess();
  PartAccess(const PartAccess&) = delete;

 private:
  bool outer_value_;
};

/// While an object that was made with on = true lives, this thread computes gradients for its share
/// of a batch, so the gradients of divided variables are summed over the processes.
class CRESCENT_API PartialGradients {
 public:
  explicit PartialGradients(bool on);
  ~PartialGradients();
  PartialGradients(const PartialGradients&) = delete;

 private:
  bool outer_value_;
};

/// Gathers the values of variables, one variable after another; all processes must do so together,
/// and rank 0 keeps the values. While the object lives, value() on this thread of rank 0 returns
/// the kept values without communication.
class CRESCENT_API GatheredValues {
 public:
  explicit GatheredValues(const Variables& variables);
  ~GatheredValues();
  GatheredValues(const GatheredValues&) = delete;
  /// The value of the variable that the innermost living object keeps; an empty Tensor if there is
  /// none.
  static Tensor of(const Variable& variable);

 private:
  GatheredValues* outer_values_;
  std::vector<std::pair<Variable, Tensor>> values_;
};

/// While an object of this class lives, reading a divided variable on this thread fails, because
/// the other processes do not take part; `reader_name` names the reading code in the message.
class CRESCENT_API NoCollectives {
 public:
  explicit NoCollectives(std::string reader_name);
  ~NoCollectives();
  NoCollectives(const NoCollectives&) = delete;

 private:
  std::string outer_value_;
};

/// Divides a variable that is whole in every process; all processes take their parts from the value
/// of rank 0.
CRESCENT_API void divide(const Variable& variable, const Division& division);
/// Declares that the variable is divided and has the shape `whole_shape`, and that its value in
/// this process is `part_value`; without `part_value`, its current value is the part.
void declare_divided(const Variable& variable, const Division& division, const Shape& whole_shape,
                     const Tensor& part_value = {});
/// The part of `whole_value` that this process has under the division.
CRESCENT_API Tensor own_part(const Tensor& whole_value, const Division& division);
/// The shape of the part that this process has of an array of shape `whole_shape`.
Shape part_shape(const Division& division, const Shape& whole_shape);
/// The spec of the value that this process has: that of the part if the variable is divided, else
/// that of the whole.
CRESCENT_API const TensorSpec& stored_spec(const Variable& variable);
/// Returns the sum of `own_sum` over all parts, where `own_sum` was summed over the part of this
/// process; returns `own_sum` if the variable is not divided.
Tensor sum_over_parts(const Variable& variable, const Tensor& own_sum);

}  // namespace crescent
