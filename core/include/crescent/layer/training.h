// Base classes of what training is made of. Each is a kind in the registry; plugins derive from
// them and describe their options (schema.h). All arithmetic is ops, so everything is traced into
// the compiled step.
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
  /// Its name when it has no options of its own, else {class_name, config}; "linear" for null
  /// (Keras).
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

/// What users choose for one weight, as a member of the layer that has it:
/// `WeightRules kernel_options_{"glorot_uniform"};` The layer's schema declares all of it by
/// weight_options({{"kernel", &Dense::kernel_options_}}).
struct CRESCENT_API WeightRules {
  explicit WeightRules(const char* initializer);
  WeightRules(const WeightRules&);
  WeightRules& operator=(const WeightRules&);
  ~WeightRules();
  Ref<Initializer> initializer;
  Ref<Regularizer> regularizer;
  Ref<Constraint> constraint;

  // Called by Schema. `offset` is that of the rules in the described class, `object` one with its
  // members' initial values.
  static void describe_initializer(SchemaBuilder& schema, const char* name, const char* called,
                                   std::ptrdiff_t offset, const void* object);
  static void describe_regularizer(SchemaBuilder& schema, const char* name, const char* called,
                                   std::ptrdiff_t offset, const void* object);
  static void describe_constraint(SchemaBuilder& schema, const char* name, const char* called,
                                  std::ptrdiff_t offset, const void* object);
};

/// Makes ranks equal as Keras does: when they differ by one and the longer ends in an axis of 1,
/// that axis is dropped (or added to a vector).
CRESCENT_API void match_ranks(Tensor& a, Tensor& b);

/// How per-sample losses become one number. Keras 3 rules: sum_over_batch_size divides by the
/// number of loss elements; with a mask the mean is over valid elements.
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

  /// Loss per sample: y_true, y_pred (batch, ..., d) -> (batch, ...). y_true may lack or have an
  /// extra last axis of 1.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) const = 0;
  /// A scalar (or per sample for "none"). sample_weight broadcasts from the left; a mask of y_pred
  /// counts as weights.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;
  /// True when targets are class numbers (accuracy becomes sparse_categorical_accuracy).
  virtual bool sparse_targets() const { return false; }
  /// True for binary cross-entropies (accuracy becomes binary_accuracy).
  virtual bool binary_targets() const { return false; }
  const std::string& name() const { return name_; }  ///< empty: snake case of the class

 protected:
  std::string reduction_ = "sum_over_batch_size";
  std::string name_;
  std::optional<DType> dtype_;

 private:
  static void describe_options(Schema<Loss>& s);
};

/// Which way a number gets better; unknown where its class does not say.
enum class Direction { unknown, down, up };

/// Streaming state over batches: update_state in the step, result when somebody looks, reset_state
/// at epoch start.
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
  /// Of its result: what callbacks with mode = "auto" go by.
  virtual Direction direction() const { return Direction::unknown; }
  const Variables& variables() const { return variables_; }
  const std::string& name() const { return name_; }
  void set_name(std::string name);
  std::optional<DType> dtype() const { return dtype_; }  ///< as the option says

 protected:
  Variable add_variable(const std::string& name, const Shape& shape, DType dtype = DType::float32);
  std::string name_;  ///< empty: snake case of the class
  std::optional<DType> dtype_;

 private:
  static void describe_options(Schema<Metric>& s);
  Variables variables_;
};

/// Learning rate as a function of the step number.
class CRESCENT_API Schedule : public Plain {
 public:
  static constexpr const char* kKind = "schedule";
  ~Schedule() override;
  virtual Tensor operator()(
      const Tensor& step) const = 0;  ///< step: int64 scalar -> float32 scalar
};

/// A number or a Schedule.
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

/// Assignments that only count when `on` (a bool scalar) holds, or always without one: remembers
/// the values of variables and puts them back otherwise.
class CRESCENT_API ConditionalUpdate {
 public:
  ConditionalUpdate(Tensor on, Variables variables);
  void finish();

 private:
  Tensor on_;
  Variables variables_;
  Tensors before_;
};

/// Gradients to updates. Derived classes name their slots (state per variable) and give the rule of
/// one variable; clipping, weight decay, moving averages and constraints are here. Order of a step
/// (Keras 3): clip -> decay -> rule -> average -> constraint; iterations is advanced last.
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

  /// Makes the state, which is of these variables in this order from now on. Those that it knows
  /// keep their slots, also when they are left out now and come back later.
  virtual void build(const Variables& variables);
  bool built() const { return built_; }
  /// Called before a model trains: these are its weights, frozen ones too. Fails where options go
  /// by patterns of paths and one of them fits none of the weights.
  virtual void check_patterns(const Variables& weights) const;
  /// New variables are taken in. Gradients may miss (no tensor): those variables are left alone;
  /// all missing fails.
  virtual void apply(std::span<const Tensor> gradients, const Variables& variables);

  virtual Variable iterations() const { return iterations_; }  ///< int64 scalar
  virtual Variable learning_rate() const;       ///< float32 scalar; with a schedule: its last value
  virtual void set_learning_rate(double rate);  ///< fails when a schedule decides
  /// Slot variables of one kind, in order of the trained variables: slot("momentum").
  Variables slot(std::string_view name) const;
  virtual std::vector<std::string> slot_names() const;  ///< of all kinds of slots
  /// Each variable with its slot of this kind, of those that have one: pairs_with("average") are
  /// the moving averages of use_ema.
  virtual std::vector<std::pair<Variable, Variable>> pairs_with(std::string_view slot) const;
  /// iterations, learning_rate, then per variable its slots (Keras 3's order).
  virtual Variables state() const;
  const std::string& name() const { return name_; }
  /// What gradients are to be taken of; apply() makes them those of the loss again.
  virtual Tensor scale_loss(const Tensor& loss) const;

 protected:
  /// What one variable needs: {"momentum", "velocity"} for Adam.
  virtual std::vector<std::string> slots() const;
  /// Initial value of a slot; zeros unless overridden.
  virtual Tensor initial_slot(std::string_view slot, const Variable& variable) const;
  /// The rule: assigns `variable` and its slots. `rate` and `step` (= iterations + 1, float32) are
  /// scalars.
  virtual void update(const Variable& variable, const Tensor& gradient, const Tensor& rate,
                      const Tensor& step, std::span<const Variable> slots) = 0;

  /// Builds for these variables besides those of before.
  void include(const Variables& variables);

  LearningRate learning_rate_ = 0.001;  ///< derived classes declare it as first field
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
  Variables variables_;                                  // of the state
  std::vector<Variables> slot_variables_;                // of each
  std::vector<std::pair<Variable, Variables>> resting_;  // variables left out, with their slots
  bool built_ = false;
};

/// Class name to lower snake case as Keras does it: "Conv2D" -> "conv2d", "ReLU" -> "re_lu", "LSTM"
/// -> "lstm".
CRESCENT_API std::string to_snake_case(std::string_view class_name);

}  // namespace crescent
