// Variable: named state that outlives a step. Copies are handles to the same variable. While a
// program is recorded, value() is the value that the program has assigned so far, and assign()
// records a write that the compiled step does in place.
#pragma once
#include <unordered_set>

#include "crescent/tensor/tensor.h"

namespace crescent {

class Regularizer;
class Constraint;

class CRESCENT_API Variable {
 public:
  struct Options {
    std::string name = "variable";
    bool trainable = true;
    bool autocast = true;  ///< within a layer of mixed precision, reads give the compute dtype
    std::shared_ptr<Regularizer> regularizer{};
    std::shared_ptr<Constraint> constraint{};
  };
  Variable() = default;  ///< an empty Variable: `if (v)` is false
  Variable(const Tensor& initial, Options options);
  explicit Variable(const Tensor& initial) : Variable(initial, Options{}) {}

  explicit operator bool() const { return state_ != nullptr; }
  const std::string& name() const;  ///< "kernel"
  /// "dense_1/kernel"; equal to name() until a layer owns the variable.
  const std::string& path() const;
  void set_path(std::string path) const;
  const TensorSpec& spec() const;
  DType dtype() const { return spec().dtype; }
  const Shape& shape() const { return spec().shape; }
  bool trainable() const;
  void set_trainable(bool on) const;
  const std::shared_ptr<Regularizer>& regularizer() const;
  void set_regularizer(std::shared_ptr<Regularizer> regularizer) const;
  const std::shared_ptr<Constraint>& constraint() const;
  void set_constraint(std::shared_ptr<Constraint> constraint) const;

  /// The present value; while a program is recorded, the value at this point of the program.
  Tensor value() const;
  operator Tensor() const { return value(); }
  /// Assigns a value of the same shape, which is cast to the variable's dtype. Fails for another
  /// shape; the error names the variable and both shapes.
  void assign(const Tensor& value) const;
  void assign_add(const Tensor& delta) const;  ///< adds to the value; fails as assign()
  void assign_sub(const Tensor& delta) const;
  const void* id() const { return state_.get(); }

  /// Moves the variable's value to the memory of a device (null: host memory) and returns the
  /// tensor there, which a compiled program reads. If a pointer for writing to the tensor's memory
  /// was given away, the memory is copied first. Hence values change only by assign() and by
  /// programs, and contents() identifies them.
  Tensor device_value(Memory* memory) const;
  /// As device_value(), for a tensor that a compiled step writes in place. If other tensors share
  /// its storage, the storage is copied first, so a tensor that a user took from value() keeps its
  /// values.
  Tensor writable_value(Memory* memory) const;
  /// Whether no other tensor shares the memory of the value, so that code that replaces all of it
  /// may write there.
  bool is_exclusive() const;

  bool operator==(const Variable& other) const { return state_ == other.state_; }

 private:
  struct State;
  friend struct VariableAccess;
  std::shared_ptr<State> state_;
};
using Variables = std::vector<Variable>;

/// A group of changes of variables that the destructor rolls back unless commit() was called: it
/// restores the values of all variables that this thread has changed since the constructor. Code
/// that runs eagerly needs a transaction; a compiled program changes either all of its variables or
/// none, also without one.
class CRESCENT_API Transaction {
 public:
  Transaction();
  ~Transaction();
  Transaction(const Transaction&) = delete;
  void commit();
  /// Must be called before the value of a variable changes.
  static void before_change(const Variable& variable);

 private:
  Transaction* outer_transaction_;
  void add(const Variable& variable, Tensor value);
  /// Variables and their values before the first change.
  std::vector<std::pair<Variable, Tensor>> old_values_;
  std::unordered_set<const void*> changed_ids_;  ///< ids of the variables in old_values_
  bool committed_ = false;
};

/// A Variable inside a Value; code that expects a BoxedTensor finds the variable's value at the
/// time of boxing.
class CRESCENT_API BoxedVariable final : public BoxedTensor {
 public:
  explicit BoxedVariable(Variable v) : BoxedTensor(v.value()), variable(std::move(v)) {}
  ~BoxedVariable() override;
  std::string class_name() const override { return "Variable"; }
  Variable variable;
};
CRESCENT_CODEC(Variable);  // decodes a boxed Variable; null is an empty Variable

}  // namespace crescent
