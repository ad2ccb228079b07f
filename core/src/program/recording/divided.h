// What code of core does with divided variables (division.h), and how it tells parts from wholes.
#pragma once
#include "crescent/program/division.h"

namespace crescent {

/// While an object of this class lives with `on`, this thread sees the parts of divided variables:
/// spec(), value() and assign() are those of the part. Optimizers compute so.
class CRESCENT_API PartAccess {
 public:
  explicit PartAccess(bool on = true);
  ~PartAccess();
  PartAccess(const PartAccess&) = delete;

 private:
  bool before_;
};

/// While an object of this class lives with `on`, gradients that this thread takes are those of a
/// share of a batch, so that the gradients of divided variables are sums over the processes.
class CRESCENT_API PartialGradients {
 public:
  explicit PartialGradients(bool on);
  ~PartialGradients();
  PartialGradients(const PartialGradients&) = delete;

 private:
  bool before_;
};

/// Gathers variables, one after another, in all processes; rank 0 keeps the values. While the
/// object lives, value() on this thread of rank 0 returns them without other processes.
class CRESCENT_API GatheredValues {
 public:
  explicit GatheredValues(const Variables& variables);
  ~GatheredValues();
  GatheredValues(const GatheredValues&) = delete;
  /// The value of the variable that the innermost object keeps; empty without one.
  static Tensor of(const Variable& variable);

 private:
  GatheredValues* around_;
  std::vector<std::pair<Variable, Tensor>> values_;
};

/// While an object of this class lives, reading a divided variable on this thread fails, because
/// the other processes do not take part; `what` names the code in the message.
class CRESCENT_API WithoutOthers {
 public:
  explicit WithoutOthers(std::string what);
  ~WithoutOthers();
  WithoutOthers(const WithoutOthers&) = delete;

 private:
  std::string before_;
};

/// Divides a variable whose value is the whole, of which all processes take that of rank 0.
CRESCENT_API void divide(const Variable& variable, const Division& division);
/// Declares that the variable is a whole of that shape, of which this process has `part`; without
/// `part` its value is that.
void declare_divided(const Variable& variable, const Division& division, const Shape& whole,
                     const Tensor& part = {});
/// The part of this process.
CRESCENT_API Tensor own_part(const Tensor& whole, const Division& division);
/// The shape of the part of this process.
Shape part_shape(const Division& division, const Shape& whole);
/// The dtype and shape of the value that this process has: those of the part, or of the whole.
CRESCENT_API const TensorSpec& stored_spec(const Variable& variable);
/// The sum over all parts of `own`, which was summed over the part of this process; `own` of a
/// variable that is not divided.
Tensor sum_over_parts(const Variable& variable, const Tensor& own);

}  // namespace crescent
