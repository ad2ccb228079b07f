// A plugin with classes whose code returns invalid values, or never returns.
#include "crescent/plugin.h"

using namespace crescent;

namespace {

struct CallsItself final : UnaryLayer {
  static void describe(Schema<CallsItself>& s) { s.doc("Has no end."); }
  Tensor call(const Tensor& x, const Call&) override { return (*this)(x); }
};
struct ScalarStart final : Initializer {
  static void describe(Schema<ScalarStart>& s) { s.doc("Forgets the shape."); }
  Tensor operator()(const Shape&, DType) const override { return Tensor(3.0); }
};
struct NoResult final : Metric {
  static void describe(Schema<NoResult>& s) { s.doc("Has no result."); }
  void update_state(const Tensor&, const Tensor&, const Tensor&) override {}
  Tensor result() const override { return {}; }
};
struct AssignsNothing final : Optimizer {
  static void describe(Schema<AssignsNothing>& s) { s.doc("Has no new value."); }
  void update(const Variable& variable, const Tensor&, const Tensor&, const Tensor&,
              std::span<const Variable>) override {
    variable.assign(Tensor());
  }
};

}  // namespace

CRESCENT_PLUGIN("careless", "1.0.0") {
  registry.add<CallsItself>("CallsItself");
  registry.add<ScalarStart>("ScalarStart");
  registry.add<NoResult>("NoResult");
  registry.add<AssignsNothing>("AssignsNothing");
}
