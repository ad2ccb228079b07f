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
              Slots) override {
    variable.assign(Tensor());
  }
};

struct ForgetsSlots final : Optimizer {
  static void describe(Schema<ForgetsSlots>& s) { s.doc("Reads a slot that it has not named."); }
  void update(const Variable& variable, const Tensor& gradient, const Tensor& rate, const Tensor&,
              Slots slots) override {
    slots[0].assign(slots[0] * 0.9 + gradient);
    variable.assign_sub(slots[0] * rate);
  }
};
struct NamesOneSlot final : Optimizer {
  static void describe(Schema<NamesOneSlot>& s) { s.doc("Reads a second slot."); }
  std::vector<std::string> slots() const override { return {"momentum"}; }
  void update(const Variable& variable, const Tensor&, const Tensor&, const Tensor&,
              Slots slots) override {
    variable.assign_sub(slots[0] + slots[1]);
  }
};
struct NoOutput final : UnaryLayer {
  static void describe(Schema<NoOutput>& s) { s.doc("Gives no tensor."); }
  Tensor call(const Tensor&, const Call&) override { return {}; }
};

}  // namespace

CRESCENT_PLUGIN("careless", "1.0.0") {
  registry.add<CallsItself>("CallsItself");
  registry.add<ScalarStart>("ScalarStart");
  registry.add<NoResult>("NoResult");
  registry.add<AssignsNothing>("AssignsNothing");
  registry.add<ForgetsSlots>("ForgetsSlots");
  registry.add<NamesOneSlot>("NamesOneSlot");
  registry.add<NoOutput>("NoOutput");
}
