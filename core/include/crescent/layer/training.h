// Base classes of activations, initializers, losses, metrics, optimizers and schedules. Each is a
// kind in the registry; plugins derive from them and describe their options (schema.h). All
// arithmetic uses ops and is therefore traced into the compiled step.
#pragma once
#include <optional>

#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/registry/registry.h"
#include "crescent/tensor/variable.h"

namespace crescent {

/// A function of one tensor, named in configs by its lower-case name: "relu".
class CRESCENT_API Activation : public Plain {
 public:
  static constexpr const char* kKind = "activation";
  ~Activation() override;
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// The class name as a string when the activation has no options, else {class_name, config};
  /// "linear" for null (Keras).
  static Value encode_option(const Activation* activation);
};

class CRESCENT_API Initializer : public Plain {
 public:
  static constexpr const char* kKind = "initializer";
  static constexpr const char* kNullOption = "glorot_uniform";  ///< Keras' add_weight
  ~Initializer() override;
  virtual Tensor operator()(const Shape& shape, DType dtype) const = 0;
};

class CRESCENT_API Regularizer : public Plain {
 public:
  static constexpr const char* kKind = "regularizer";
  ~Regularizer() override;
  virtual Tensor operator()(const Tensor& weight) const = 0;  ///< a scalar
};

/// Projection applied to the new value of a variable after each update.
class CRESCENT_API Constraint : public Plain {
 public:
  static constexpr const char* kKind = "constraint";
  ~Constraint() override;
  virtual Tensor operator()(const Tensor& weight) const = 0;
};

/// The initializer, regularizer and constraint that users choose for one weight, as a member of a
/// layer: `WeightRules kernel_options_{"glorot_uniform"};` The layer's schema declares all three
/// with weight_options({{"kernel", &Dense::kernel_options_}}).
struct CRESCENT_API WeightRules {
  explicit WeightRules(const char* initializer);
  WeightRules(const WeightRules&);
  WeightRules& operator=(const WeightRules&);
  ~WeightRules();
  Ref<Initializer> initializer;
  Ref<Regularizer> regularizer;
  Ref<Constraint> constraint;

  // These are called by Schema. `offset` is the offset of the rules within the described class;
  // `object` is an instance whose members have their initial values.
  static void describe_initializer(SchemaBuilder& schema, const char* name, const char* called,
                                   std::ptrdiff_t offset, const void* object);
  static void describe_regularizer(SchemaBuilder& schema, const char* name, const char* called,
                                   std::ptrdiff_t offset, const void* object);
  static void describe_constraint(SchemaBuilder& schema, const char* name, const char* called,
                                  std::ptrdiff_t offset, const void* object);
};

/// Makes the ranks equal as Keras does: when they differ by one and the last axis of the longer
/// shape has size 1, that axis is dropped (or added to a vector).
CRESCENT_API void match_ranks(Tensor& a, Tensor& b);

/// A loss function with a reduction from losses per sample to one number. The rules are those of
/// Keras 3: sum_over_batch_size divides by the number of loss elements; with a mask the mean is
/// over valid elements.
class CRESCENT_API Loss : public Configurable {
 public:
  static constexpr const char* kKind = "loss";
  ~Loss() override;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.template base<Loss>(describe_options);
  }
  static void describe_members(Schema<Loss>& s);
  static Value encode_option(const Configurable* object) { return serialize(object); }

  /// Returns the loss per sample: y_true, y_pred (batch, ..., d) -> (batch, ...). y_true may have
  /// an extra last axis of size 1 or lack the last axis.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) const = 0;
  /// Returns a scalar (or the loss per sample for "none"). sample_weight broadcasts over the
  /// trailing axes; a mask of y_pred is multiplied into the weights.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;
  /// Whether targets are class indices (then the metric "accuracy" becomes
  /// sparse_categorical_accuracy).
  virtual bool sparse_targets() const { return false; }
  /// Whether the loss is a binary cross-entropy (then "accuracy" becomes binary_accuracy).
  virtual bool binary_targets() const { return false; }
  const std::string& name() const { return name_; }  ///< empty: the class name in snake case

 protected:
  std::string reduction_ = "sum_over_batch_size";
  std::string name_;
  std::optional<DType> dtype_;

 private:
  static void describe_options(Schema<Loss>& s);
};

/// Whether a smaller or a larger value of a metric is better; unknown unless its class declares it.
enum class Direction { unknown, down, up };

/// State that is accumulated over batches. update_state runs within the step, result is computed on
/// demand, reset_state is called at the start of an epoch.
class CRESCENT_API Metric : public Configurable {
 public:
  static constexpr const char* kKind = "metric";
  ~Metric() override;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.template base<Metric>(describe_options);
  }
  static void describe_members(Schema<Metric>& s);
  static Value encode_option(const Configurable* object) { return serialize(object); }

  virtual void update_state(const Tensor& y_true, const Tensor& y_pred,
                            const Tensor& sample_weight) = 0;
  virtual Tensor result() const = 0;  ///< a scalar
  virtual void reset_state();         ///< zeros every variable
  /// Whether a smaller or a larger result is better, for callbacks with mode = "auto".
  virtual Direction direction() const { return Direction::unknown; }
  const Variables& variables() const { return variables_; }
  const std::string& name() const { return name_; }
  void set_name(std::string name);
  std::optional<DType> dtype() const { return dtype_; }  ///< the option `dtype`

 protected:
  Variable add_variable(const std::string& name, const Shape& shape, DType dtype = DType::float32);
  std::string name_;  ///< empty: the class name in snake case
  std::optional<DType> dtype_;

 private:
  static void describe_options(Schema<Metric>& s);
  Variables variables_;
};

/// A learning rate as a function of the step number.
class CRESCENT_API Schedule : public Plain {
 public:
  static constexpr const char* kKind = "schedule";
  ~Schedule() override;
  virtual Tensor operator()(
      const Tensor& step) const = 0;  ///< step: int64 scalar -> float32 scalar
};

/// The option learning_rate: a number or a Schedule.
struct CRESCENT_API LearningRate {
  LearningRate(double rate);
  LearningRate(const LearningRate&);
  LearningRate& operator=(const LearningRate&);
  ~LearningRate();
  double rate;
  std::shared_ptr<Schedule> schedule{};
};
template <>
struct CRESCENT_API Codec<LearningRate> {
  static constexpr const char* kKind = Schedule::kKind;
  static LearningRate decode(const Value& value);
  static Value encode(const LearningRate& member);
  static std::string type();
};

/// Makes assignments to variables conditional. The constructor remembers their values; finish()
/// restores these values where the bool scalar `on` is false. Without `on`, assignments always
/// stay.
class CRESCENT_API ConditionalUpdate {
 public:
  ConditionalUpdate(Tensor on, Variables variables);
  void finish();

 private:
  Tensor on_;
  Variables variables_;
  Tensors before_;
};

/// Turns gradients into updates of variables. Derived classes name their slots (state per variable)
/// and define the update rule of one variable; this class does clipping, weight decay, moving
/// averages and constraints. Order within a step (Keras 3): clip -> decay -> rule -> average ->
/// constraint; iterations is incremented last.
class CRESCENT_API Optimizer : public Configurable {
 public:
  static constexpr const char* kKind = "optimizer";
  Optimizer();
  ~Optimizer() override;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.template base<Optimizer>(describe_options);
  }
  static void describe_members(Schema<Optimizer>& s);
  static Value encode_option(const Configurable* object) { return serialize(object); }

  /// Creates the slots for these variables; from now on the state lists them in this order.
  /// Variables from an earlier build keep their slots, even when a later build omits and then
  /// includes them again.
  virtual void build(const Variables& variables);
  bool built() const { return built_; }
  /// Called before a model trains, with all its weights, also frozen ones. Fails when an option
  /// selects weights by a pattern of paths that matches none of them.
  virtual void check_patterns(const Variables& weights) const;
  /// Updates the variables; unknown ones are built first. A variable whose gradient is an empty
  /// Tensor is left unchanged. Fails when all gradients are empty.
  virtual void apply(std::span<const Tensor> gradients, const Variables& variables);

  virtual Variable iterations() const { return iterations_; }  ///< int64 scalar
  /// A float32 scalar; with a schedule, its most recent value.
  virtual Variable learning_rate() const;
  virtual void set_learning_rate(double rate);  ///< fails when a schedule computes the rate
  /// The slot variables of this name, in order of the trained variables: slot("momentum").
  Variables slot(std::string_view name) const;
  virtual std::vector<std::string> slot_names() const;  ///< the names of all slots
  /// The variables that have a slot of this name, each with that slot. pairs_with("average") gives
  /// the moving averages of use_ema.
  virtual std::vector<std::pair<Variable, Variable>> pairs_with(std::string_view slot) const;
  /// iterations, learning_rate, then the slots of each variable (Keras 3's order).
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
                      const Tensor& step, std::span<const Variable> slots) = 0;

  /// Builds for these variables in addition to those built before.
  void include(const Variables& variables);

  LearningRate learning_rate_ = 0.001;  ///< derived classes declare it as their first field
  std::string name_;
  std::optional<double> weight_decay_, clipnorm_, global_clipnorm_, clipvalue_, loss_scale_factor_;
  bool use_ema_ = false;
  double ema_momentum_ = 0.99;
  std::optional<int64_t> ema_overwrite_frequency_, gradient_accumulation_steps_;

 private:
  static void describe_options(Schema<Optimizer>& s);
  Variables make_slots(const Variable& variable) const;
  const Variables& slots_of(const Variable& variable, size_t guess) const;

  Variable iterations_, rate_;
  Variables variables_;                    // the variables of the state, in its order
  std::vector<Variables> slot_variables_;  // the slots of each of variables_
  // Variables that the last build omitted, with their slots.
  std::vector<std::pair<Variable, Variables>> resting_;
  bool built_ = false;
};

/// Converts a class name to lower snake case as Keras does: "Conv2D" -> "conv2d", "ReLU" ->
/// "re_lu", "LSTM" -> "lstm".
CRESCENT_API std::string to_snake_case(std::string_view class_name);

}  // namespace crescent
