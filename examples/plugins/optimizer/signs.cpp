#include "crescent/plugin.h"

/// An optimizer defines the update of one variable; the base class Optimizer does gradient
/// clipping, weight decay and averaging.
class Signs final : public crescent::Optimizer {
 public:
  static void describe(crescent::Schema<Signs>& s) {
    s.doc("Steps of one size: w -= learning_rate * sign(gradient).")
        .field("learning_rate", &Signs::learning_rate_, "The size of a step, or a schedule.");
  }

 protected:
  void update(const crescent::Variable& variable, const crescent::Tensor& gradient,
              const crescent::Tensor& rate, const crescent::Tensor&, Slots) override {
    variable.assign_sub(crescent::ops::sign(gradient) *
                        crescent::ops::cast(rate, gradient.dtype()));
  }
};

CRESCENT_PLUGIN("acme.signs", "0.1.0") { registry.add<Signs>("Signs"); }
