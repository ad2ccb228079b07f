// Faulty classes whose faults do not show on few samples: layers and losses that mix the samples of
// a batch, optimizers that do not descend or ignore the learning rate, and a metric without reset.
#include "crescent/layer/layer.h"
#include "crescent/layer/loss.h"
#include "crescent/layer/metric.h"
#include "crescent/layer/optimizer.h"
#include "crescent/plugin.h"

using namespace crescent;

namespace {

/// A layer that subtracts the mean of the batch.
class Centered final : public UnaryLayer {
 public:
  static void describe(Schema<Centered>& s) { s.doc("Subtracts the mean of the batch."); }
  Tensor call(const Tensor& x, const Call&) override { return x - ops::mean(x, {0}, true); }
};

/// A layer that makes a weight for each hundred samples of the batch it is built for.
class WeightsGrowWithBatch final : public UnaryLayer {
 public:
  static void describe(Schema<WeightsGrowWithBatch>& s) {
    s.doc("A weight for each hundred samples.");
  }
  void build(const Shape& shape) override {
    kernel_ = add_weight("kernel", {std::max<int64_t>(1, shape[0] / 100)});
  }
  Tensor call(const Tensor& x, const Call&) override { return x * ops::mean(kernel_); }

 private:
  Variable kernel_;
};

/// A loss: the squared error of each sample, divided by their sum over the batch.
class RelativeErrors final : public Loss {
 public:
  static void describe(Schema<RelativeErrors>& s) { s.doc("Shares of the error of the batch."); }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const Tensor errors = ops::mean(ops::square(y_true - y_pred), {-1});
    return errors / ops::sum(errors);
  }
};

/// A loss: the sum of the squared errors of the batch, as one number.
class SummedErrors final : public Loss {
 public:
  static void describe(Schema<SummedErrors>& s) { s.doc("The sum of squared errors."); }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    return ops::sum(ops::square(y_true - y_pred));
  }
};

/// A metric whose reset_state() does nothing: the mean of the predictions of all updates.
class MetricWithoutReset final : public Metric {
 public:
  static void describe(Schema<MetricWithoutReset>& s) { s.doc("Does not forget."); }
  void update_state(const Tensor&, const Tensor& y_pred, const Tensor&) override {
    sum_.assign(sum_.value() + ops::mean(y_pred));
    count_.assign(count_.value() + 1.0);
  }
  Tensor result() const override { return sum_.value() / count_.value(); }
  void reset_state() override {}

 private:
  Variable sum_ = add_variable("sum", {}), count_ = add_variable("count", {});
};

/// An optimizer that follows the gradient upwards instead of downwards.
class GradientAscent final : public Optimizer {
 public:
  static void describe(Schema<GradientAscent>& s) { s.doc("Goes up."); }

 protected:
  void update(const Variable& variable, const Tensor& gradient, const Tensor& rate, const Tensor&,
              Slots) override {
    variable.assign(variable.value() + rate * gradient);
  }
};

/// An optimizer that ignores the learning rate.
class FixedRate final : public Optimizer {
 public:
  static void describe(Schema<FixedRate>& s) { s.doc("Goes down at a rate of its own."); }

 protected:
  void update(const Variable& variable, const Tensor& gradient, const Tensor&, const Tensor&,
              Slots) override {
    variable.assign(variable.value() - 0.1 * gradient);
  }
};

/// An optimizer that updates only the first eight rows of a matrix.
class FirstRows final : public Optimizer {
 public:
  static void describe(Schema<FirstRows>& s) { s.doc("Goes down in eight rows."); }

 protected:
  void update(const Variable& variable, const Tensor& gradient, const Tensor& rate, const Tensor&,
              Slots) override {
    const int64_t rows = variable.shape()[0];
    const Tensor row = ops::reshape(ops::arange(rows), {rows, 1});
    const Tensor step =
        ops::where(ops::less(row, Tensor::scalar(8)), gradient, ops::zeros_like(gradient));
    variable.assign(variable.value() - rate * (variable.shape().rank() == 2 ? step : gradient));
  }
};

}  // namespace

CRESCENT_PLUGIN("mixing", "1.0") {
  registry.add<Centered>("Centered");
  registry.add<WeightsGrowWithBatch>("Grown");
  registry.add<RelativeErrors>("Shares");
  registry.add<SummedErrors>("Summed");
  registry.add<MetricWithoutReset>("Remembers");
  registry.add<GradientAscent>("Ascends");
  registry.add<FixedRate>("Deaf");
  registry.add<FirstRows>("FirstRows");
}
