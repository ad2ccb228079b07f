// Optimizers: classes that compute updates of weights from gradients.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "crescent/layer/schedule.h"
#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"
#include "crescent/tensor/variable.h"

namespace crescent {

/// Makes assignments to variables conditional. The constructor stores the values of the variables;
/// finish() restores them if the bool scalar `condition` is false. If `condition` is an empty
/// Tensor, assignments always stay.
class CRESCENT_API ConditionalUpdate {
 public:
  ConditionalUpdate(Tensor condition, Variables variables);
  void finish();

 private:
  Tensor condition_;
  Variables variables_;
  Tensors old_values_;
};

/// Turns gradients into updates of variables. Derived classes name their slots (state per variable)
/// and define the update rule of one variable; this class does clipping, weight decay, moving
/// averages and constraints. Order within a step (Keras 3): clip -> decay -> rule -> average ->
/// constraint; iterations is incremented last.
class CRESCENT_API Optimizer : public Configurable {
 public:
  static constexpr const char* kKind = "optimizer";
  /// The slots of one variable, in the order of slots().
  class CRESCENT_API Slots {
   public:
    explicit Slots(std::span<const Variable> slots) : slots_(slots) {}
    /// Fails if the variable has no slot of this index.
    const Variable& operator[](size_t index) const;
    size_t size() const { return slots_.size(); }

   private:
    std::span<const Variable> slots_;
  };

  Optimizer();
  ~Optimizer() override;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.template base<Optimizer>(describe_options);
  }
  static void describe_members(Schema<Optimizer>& s);
  static Value encode_option(const Configurable* object) { return serialize(object); }
  /// Checks the options that all optimizers have.
  void configured() override;

  /// Creates the slots for these variables, which from now on determine the order of state().
  /// Variables of an earlier build keep their slots, even if one build omits them and a later one
  /// includes them again.
  virtual void build(const Variables& variables);
  bool built() const { return built_; }
  /// The variables that have slots, in the order of state(); empty until build().
  const Variables& trainable_variables() const { return variables_; }
  /// Called before a model trains, with all its weights, also frozen ones. Fails when an option
  /// selects weights by a pattern of paths that matches none of them.
  virtual void check_patterns(const Variables& weights) const;
  /// Updates the variables; builds first if there are variables without slots. A variable whose
  /// gradient is an empty Tensor is left unchanged. Fails when all gradients are empty.
  virtual void apply(std::span<const Tensor> gradients, const Variables& variables);

  virtual Variable iterations() const { return iterations_; }  ///< an int64 scalar
  /// A float32 scalar; with a schedule, its most recent value.
  virtual Variable learning_rate() const;
  /// Sets a number or a schedule. Fails for a number when a schedule computes the rate.
  virtual void set_learning_rate(LearningRate rate);
  /// The slot variables of this name, in order of the trained variables: slot("momentum").
  Variables slot(std::string_view name) const;
  /// The names of all slots that the state can contain.
  virtual std::vector<std::string> slot_names() const;
  /// The variables that have a slot of this name, each with that slot. pairs_with("average") gives
  /// the moving averages of use_ema.
  virtual std::vector<std::pair<Variable, Variable>> pairs_with(std::string_view slot) const;
  /// The variables of the state: iterations, learning_rate, then the slots of each trained variable
  /// (Keras 3's order).
  virtual Variables state() const;
  const std::string& name() const { return name_; }
  /// Returns the loss to differentiate, multiplied by the loss scale if there is one; apply()
  /// divides the gradients by that scale.
  virtual Tensor scale_loss(const Tensor& loss) const;

 protected:
  /// The names of the slots of one variable: {"momentum", "velocity"} for Adam.
  virtual std::vector<std::string> slots() const;
  /// The initial value of a slot; the default is zeros.
  virtual Tensor initial_slot(std::string_view slot, const Variable& variable) const;
  /// The update rule: assigns `variable` and its slots. `rate` and `step` (= iterations + 1,
  /// float32) are scalars.
  virtual void update(const Variable& variable, const Tensor& gradient, const Tensor& rate,
                      const Tensor& step, Slots slots) = 0;

  /// Calls build() with the variables of earlier builds and these variables.
  void include(const Variables& variables);

  /// Derived classes declare this option before their other options.
  LearningRate learning_rate_ = 0.001;
  std::string name_;
  std::optional<double> weight_decay_, clipnorm_, global_clipnorm_, clipvalue_, loss_scale_factor_;
  bool use_ema_ = false;
  double ema_momentum_ = 0.99;
  std::optional<int64_t> ema_overwrite_frequency_, gradient_accumulation_steps_;

 private:
  static void describe_options(Schema<Optimizer>& s);
  Variables make_slots(const Variable& variable) const;
  const Variables& slots_of(const Variable& variable, size_t guessed_index) const;

  Variable iterations_, rate_variable_;
  Variables variables_;                    // the variables with slots, in the order of state()
  std::vector<Variables> slot_variables_;  // the slots of variables_[i]
  // Variables that the last build omitted, with their slots, in case a later build includes them.
  std::vector<std::pair<Variable, Variables>> omitted_slots_;
  bool built_ = false;
};

}  // namespace crescent
