#include "crescent/plugin.h"

using namespace crescent;

class Scale final : public UnaryLayer {
 public:
  static void describe(Schema<Scale>& s) {
    s.doc("Multiplies each feature by a learned factor.")
        .field("initializer", &Scale::initializer_, "How the factors start.")
        .field("constraint", &Scale::constraint_, "Applied to the factors after each update.");
  }
  void build(const Shape& input) override {
    factor_ = add_weight("factor", {input[-1]}, initializer_, {.constraint = constraint_.shared()});
  }
  Tensor call(const Tensor& x, const Call&) override { return x * factor_; }

 private:
  Ref<Initializer> initializer_ = "ones";
  Ref<Constraint> constraint_;
  Variable factor_;
};

CRESCENT_PLUGIN("acme.scale", "1.0.0") { registry.add<Scale>("Scale"); }
