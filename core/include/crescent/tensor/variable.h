// Variable: named state that outlives a step. A handle: copies refer to the same variable.
// Inside a recorded program, value() is what the program has assigned so far and assign() becomes a
// write that the compiled step does in place.
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
    bool autocast = true;  ///< reads as the narrower dtype within a layer of mixed precision
    std::shared_ptr<Regularizer> regularizer{};
    std::shared_ptr<Constraint> constraint{};
  };
  Variable() = default;  ///< no variable: `if (v)` is false
  Variable(const Tensor& initial, Options options);
  explicit Variable(const Tensor& initial) : Variable(initial, Options{}) {}

  explicit operator bool() const { return state_ != nullptr; }
  const std::string& name() const;  ///< "kernel"
  const std::string& path() const;  ///< "dense_1/kernel"; name until a layer owns it
  void set_path(std::string path) const;
  const TensorSpec& spec() const;
  DType dtype() const { return spec().dtype; }
  const Shape& shape() const { return spec().shape; }
  bool trainable() const;
  void set_trainable(bool on) const;
  const std::shared_ptr<Regularizer>& regularizer() const;
  const std::shared_ptr<Constraint>& constraint() const;
  void set_constraint(std::shared_ptr<Constraint> constraint) const;

  Tensor value() const;
  operator Tensor() const { return value(); }
  /// Shape must fit, the dtype is converted. Fails naming the variable and both shapes.
  void assign(const Tensor& value) const;
  void assign_add(const Tensor& delta) const;
  void assign_sub(const Tensor& delta) const;
  const void* id() const { return state_.get(); }

  /// The tensor that a compiled program reads, in the memory of its device (null: the host's), to
  /// which the variable moves. If anyone was given a pointer to write to its memory, that is copied
  /// first: so values change by assign() and by programs only, and the tensor's contents() tell.
  Tensor device_value(Memory* memory) const;
  /// The tensor that a compiled step writes in place, in the memory of its device: if anyone else
  /// holds its storage, too, that storage is copied first, so tensors users took from value() keep
  /// their values.
  Tensor writable_value(Memory* memory) const;
  /// Nobody else holds the memory that the value is in: who replaces all of it may write there.
  bool is_exclusive() const;

  bool operator==(const Variable& other) const { return state_ == other.state_; }

 private:
  struct State;
  friend struct VariableAccess;
  std::shared_ptr<State> state_;
};
using Variables = std::vector<Variable>;

/// While it lives, what this thread does to the values of variables counts as a whole: unless
/// keep() is called, they have their values back when it goes. It concerns what runs at once, as a
/// step that is not compiled; recorded programs change all of their variables or none by
/// themselves.
class CRESCENT_API AllOrNothing {
 public:
  AllOrNothing();
  ~AllOrNothing();
  AllOrNothing(const AllOrNothing&) = delete;
  void keep();
  /// For who is about to change the value of a variable.
  static void note(const Variable& variable);

 private:
  AllOrNothing* around_;
  void add(const Variable& variable, Tensor value);
  std::vector<std::pair<Variable, Tensor>> before_;  ///< values that were there first
  std::unordered_set<const void*> noted_;            ///< whose
  bool kept_ = false;
};

/// A Variable inside a Value; whoever asks for a tensor finds the value that it had.
class CRESCENT_API BoxedVariable final : public BoxedTensor {
 public:
  explicit BoxedVariable(Variable v) : BoxedTensor(v.value()), variable(std::move(v)) {}
  ~BoxedVariable() override;
  std::string class_name() const override { return "Variable"; }
  Variable variable;
};
CRESCENT_CODEC(Variable);  // itself; null is no variable

}  // namespace crescent
