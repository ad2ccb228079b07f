// Metrics: numbers that are accumulated over the batches of an epoch.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"
#include "crescent/tensor/variable.h"

namespace crescent {

/// Whether a smaller or a larger value of a metric is better; unknown unless its class declares it.
enum class Direction { unknown, down, up };

/// State that is accumulated over batches. update_state runs within a training or test step, result
/// is computed on demand, and reset_state is called at the start of an epoch.
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

  /// Adds a batch: y_true and y_pred (batch, ...), and the weights of samples or an empty Tensor.
  virtual void update_state(const Tensor& y_true, const Tensor& y_pred,
                            const Tensor& sample_weight) = 0;
  virtual Tensor result() const = 0;  ///< returns a scalar
  virtual void reset_state();         ///< sets every variable to zero, also of inner metrics
  /// Whether a smaller or a larger result is better, for callbacks with mode = "auto".
  virtual Direction direction() const { return Direction::unknown; }
  /// The variables of the state: those of this metric, then those of the metrics inside it.
  Variables variables() const;
  /// Adds a variable, or a metric inside this one, to the state. An object that is part of the
  /// state already is not added again.
  void track(const Variable& variable);
  void track(const std::shared_ptr<Metric>& metric);
  const std::string& name() const { return name_; }
  void set_name(std::string name);
  std::optional<DType> dtype() const { return dtype_; }  ///< the value of the option `dtype`

 protected:
  /// Creates a variable of the state, which is not trainable and starts with zeros.
  Variable add_variable(const std::string& name, const Shape& shape, DType dtype = DType::float32);
  std::string name_;  ///< the name in logs; empty: the class name in snake case
  std::optional<DType> dtype_;

 private:
  static void describe_options(Schema<Metric>& s);
  Variables variables_;
  std::vector<std::shared_ptr<Metric>> inner_metrics_;
};

}  // namespace crescent
