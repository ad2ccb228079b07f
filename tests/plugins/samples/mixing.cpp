// Classes that small samples do not show to be wrong: layers and losses that mix the samples of a
// batch, optimizers that do not descend or do not heed the learning rate, and a metric that does
// not forget.
#include "crescent/layer/layer.h"
#include "crescent/layer/loss.h"
#include "crescent/layer/metric.h"
#include "crescent/layer/optimizer.h"
#include "crescent/plugin.h"

using namespace crescent;

namespace {

/// Subtracts the mean of the batch.
class Centered final : public UnaryLayer {
 public:
  static void describe(Schema<Centered>& s) { s.doc("Subtracts the mean of the batch."); }
  Tensor call(const Tensor& x, const Call&) override { return x - ops::mean(x, {0}, true); }
};

/// Has more weights for more samples.
class Grown final : public UnaryLayer {
 public:
  static void describe(Schema<Grown>& s) { s.doc("A weight for each hundred samples."); }
  void build(const Shape& shape) override {
    kernel_ = add_weight("kernel", {std::max<int64_t>(1, shape[0] / 100)});
  }
  Tensor call(const Tensor& x, const Call&) override { return x * ops::mean(kernel_); }

 private:
  Variable kernel_;
};

/// Squared errors, as fractions of those of the batch.
class Shares final : public Loss {
 public:
  static void describe(Schema<Shares>& s) { s.doc("Shares of the error of the batch."); }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const Tensor each = ops::mean(ops::square(y_true - y_pred), {-1});
    return each / ops::sum(each);
  }
};

/// The sum of the errors of a batch.
class Summed final : public Loss {
 public:
  static void describe(Schema<Summed>& s) { s.doc("The sum of squared errors."); }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    return ops::sum(ops::square(y_true - y_pred));
  }
};

/// The mean of all predictions that it ever saw.
class Remembers final : public Metric {
 public:
  static void describe(Schema<Remembers>& s) { s.doc("Does not forget."); }
  void update_state(const Tensor&, const Tensor& y_pred, const Tensor&) override {
    sum_.assign(sum_.value() + ops::mean(y_pred));
    count_.assign(count_.value() + 1.0);
  }
  Tensor result() const override { return sum_.value() / count_.value(); }
  void reset_state() override {}

 private:
  Variable sum_ = add_variable("sum", {}), count_ = add_variable("count", {});
};

/// Goes up instead of down.
class Ascends final : public Optimizer {
 public:
  static void describe(Schema<Ascends>& s) { s.doc("Goes up."); }

 protected:
  void update(const Variable& variable, const Tensor& gradient, const Tensor& rate, const Tensor&,
              Slots) override {
    variable.assign(variable.value() + rate * gradient);
  }
};

/// Goes down by a rate of its own.
class Deaf final : public Optimizer {
 public:
  static void describe(Schema<Deaf>& s) { s.doc("Goes down at a rate of its own."); }

 protected:
  void update(const Variable& variable, const Tensor& gradient, const Tensor&, const Tensor&,
              Slots) override {
    variable.assign(variable.value() - 0.1 * gradient);
  }
};

/// Goes down in the first rows of a variable alone.
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
  registry.add<Grown>("Grown");
  registry.add<Shares>("Shares");
  registry.add<Summed>("Summed");
  registry.add<Remembers>("Remembers");
  registry.add<Ascends>("Ascends");
  registry.add<Deaf>("Deaf");
  registry.add<FirstRows>("FirstRows");
}
