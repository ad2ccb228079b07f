#include "crescent/plugin.h"

/// A layer class defines only its options, its weights and its call method; gradients, saving, the
/// Lua constructor and the help are derived from these.
class Swish final : public crescent::UnaryLayer {
 public:
  static void describe(crescent::Schema<Swish>& s) {
    s.doc("x times the sigmoid of x times a learned slope for each feature.")
        .field("initializer", &Swish::initializer_, "How the slopes start.");
  }
  void build(const crescent::Shape& input) override {
    slope_ = add_weight("slope", {input[-1]}, initializer_);
  }
  crescent::Tensor call(const crescent::Tensor& x, const crescent::Call&) override {
    return x * crescent::ops::sigmoid(x * slope_);
  }

 private:
  crescent::Ref<crescent::Initializer> initializer_ = "ones";
  crescent::Variable slope_;
};

CRESCENT_PLUGIN("acme.swish", "0.1.0") { registry.add<Swish>("Swish"); }
