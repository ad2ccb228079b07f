// The base of optimizers that update one weight at a time, with factors of rate and decay per
// weight.
//
//   optimizer.rules = { { pattern = "*/bias", weight_decay = 0 },
//                       { pattern = "encoder/*", learning_rate = 0.1 } }
//
// The first rule whose pattern (with * and ?) matches the path of a weight applies; its numbers
// multiply those of the optimizer. A pattern that matches no weight of the model is an error,
// unless its rule has optional = true.
#pragma once
#include "crescent/layer/optimizer.h"

namespace crescent {

class UpdateRule : public Optimizer {
 public:
  template <class T>
  static void describe_base(Schema<T>& s) {
    Optimizer::describe_base(s);
    s.field("weight_decay", &UpdateRule::decay_,
            "Decoupled weight decay: w -= w * weight_decay * learning_rate.")
        .field("rules", &UpdateRule::rules_,
               "A list of {pattern=, learning_rate=1, weight_decay=1, optional=false}: factors for "
               "weights whose path matches the pattern, such as \"*/bias\". The first match "
               "counts; a pattern that matches nothing is an error unless optional.")
        .omit_null()
        .field("decay", &UpdateRule::old_decay_,
               "Time-based decay as in Keras 2: the rate is learning_rate / (1 + decay * steps).")
        .min(0)
        .not_stored()
        .method("exclude_from_weight_decay", &UpdateRule::exclude_from_weight_decay,
                "Excludes weights from weight decay; call it before training.")
        .arg("var_list", "The variables.", Value())
        .arg("var_names", "Substrings of their paths.", Value());
  }
  void configured() override;
  void check_patterns(const Variables& weights) const override;
  void exclude_from_weight_decay(const Variables& variables, const std::vector<std::string>& names);

 protected:
  void update(const Variable& variable, const Tensor& gradient, const Tensor& rate,
              const Tensor& step, Slots slots) final;
  /// Updates a variable like update(), but `rate` is the learning rate for this variable.
  virtual void rule(const Variable& variable, const Tensor& gradient, const Tensor& rate,
                    const Tensor& step, Slots slots) = 0;
  /// Prepares the update of a variable; called at the start of each step, before weight decay.
  virtual void begin(const Variable& /*variable*/, const Tensor& /*step*/, Slots /*slots*/) {}
  /// The weight decay of a variable, which update() multiplies by the factor from the option
  /// `rules`; nullopt means no decay.
  virtual std::optional<double> decay_of(const Variable&) const { return decay_; }

  std::optional<double> decay_;

 private:
  struct Factors {
    std::string pattern;
    double rate = 1, decay = 1;
    bool is_optional = false;
    // the variable that exclude_from_weight_decay got; other variables with its path do not fit
    Variable variable{};
    bool is_exclusion() const;
    bool fits(const Variable& v) const;
  };
  Factors factors_of(const Variable& variable) const;

  void convert_old_decay();

  double old_decay_ = 0;
  Value rules_;
  // the entries of the option `rules`: a pattern of paths, and the factors for the weights whose
  // paths match it
  std::vector<Factors> factors_;
  // The variables that exclude_from_weight_decay got. The option `rules` contains their paths, by
  // which an optimizer that is loaded from a file excludes them.
  Variables excluded_variables_;
};

/// Throws the error for a pattern that matches the path of none of these weights.
[[noreturn]] void fail_unmatched(const char* option, const std::string& pattern,
                                 const Variables& weights);

/// Updates an exponential moving average, value + (target - value) * (1 - momentum), in `variable`,
/// and returns it.
Tensor average(const Variable& variable, const Tensor& target, double momentum);

/// The factor 1 - beta^step, by which averages that began at zero are divided.
Tensor bias_correction(double beta, const Tensor& step);

}  // namespace crescent
