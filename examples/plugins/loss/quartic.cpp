#include "crescent/plugin.h"

/// A loss computes one number for each sample; the base class Loss applies the sample weights and
/// the reduction.
class Quartic final : public crescent::Loss {
 public:
  static void describe(crescent::Schema<Quartic>& s) {
    s.doc("The mean of the fourth powers of differences.")
        .field("scale", &Quartic::scale_, "What differences are divided by.");
  }
  crescent::Tensor call(const crescent::Tensor& y_true,
                        const crescent::Tensor& y_pred) const override {
    crescent::Tensor truth = crescent::ops::cast(y_true, y_pred.dtype()), prediction = y_pred;
    crescent::match_ranks(truth, prediction);
    const crescent::Tensor square = crescent::ops::square((prediction - truth) * (1 / scale_));
    return crescent::ops::mean(crescent::ops::square(square), {-1});
  }

 private:
  double scale_ = 1;
};

CRESCENT_PLUGIN("acme.quartic", "0.1.0") { registry.add<Quartic>("Quartic"); }
