#include "crescent/plugin.h"

class Scale final : public crescent::UnaryLayer {
 public:
  static void describe(crescent::Schema<Scale>& s) {
    s.doc("Multiplies each feature by a learned factor.")
        .field("initializer", &Scale::initializer_, "How the factors start.")
        .field("constraint", &Scale::constraint_, "Applied to the factors after each update.");
  }
  void build(const crescent::Shape& input) override {
    factor_ = add_weight("factor", {input[-1]}, initializer_, {.constraint = constraint_.shared()});
  }
  crescent::Tensor call(const crescent::Tensor& x, const crescent::Call&) override {
    return x * factor_;
  }

 private:
  crescent::Ref<crescent::Initializer> initializer_ = "ones";
  crescent::Ref<crescent::Constraint> constraint_;
  crescent::Variable factor_;
};

CRESCENT_PLUGIN("acme.scale", "1.0.0") { registry.add<Scale>("Scale"); }
