#include "crescent/ops/elementwise.h"
#include "crescent/plugin.h"

/// A metric accumulates sums in variables; result() computes its value at the end of a batch or an
/// epoch. `sample_weight` has one weight for each sample, or is empty if the caller gives no
/// weights.
class Within final : public crescent::Metric {
 public:
  Within() : hits_(add_variable("hits", {})), count_(add_variable("count", {})) {}
  static void describe(crescent::Schema<Within>& s) {
    s.doc("The share of predictions that are near the truth.")
        .field("tolerance", &Within::tolerance_, "How near.")
        .min(0);
  }
  void update_state(const crescent::Tensor& y_true, const crescent::Tensor& y_pred,
                    const crescent::Tensor& sample_weight) override {
    const crescent::Tensor distance =
        crescent::ops::abs(y_pred - crescent::ops::cast(y_true, y_pred.dtype()));
    const crescent::Tensor is_near = crescent::ops::cast(
        crescent::ops::less_equal(distance, tolerance_), crescent::DType::float32);
    const crescent::Tensor ones = crescent::ops::ones_like(is_near);
    crescent::Tensor weight =
        sample_weight ? crescent::ops::cast(sample_weight, is_near.dtype()) : ones;
    while (weight.rank() < is_near.rank()) weight = crescent::ops::expand_dims(weight, -1);
    hits_.assign_add(crescent::ops::sum(is_near * weight));
    count_.assign_add(crescent::ops::sum(ones * weight));
  }
  crescent::Tensor result() const override { return crescent::ops::divide_no_nan(hits_, count_); }
  crescent::Direction direction() const override { return crescent::Direction::up; }

 private:
  double tolerance_ = 0.5;
  crescent::Variable hits_, count_;
};

CRESCENT_PLUGIN("acme.within", "0.1.0") { registry.add<Within>("Within"); }
