// A plugin with classes whose code returns invalid values, or never returns.
#include <stdexcept>

#include "crescent/plugin.h"
#include "crescent/program/device.h"
#include "crescent/program/program.h"

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
struct ScalarLimit final : Constraint {
  static void describe(Schema<ScalarLimit>& s) { s.doc("Forgets the shape."); }
  Tensor operator()(const Tensor& w) const override { return ops::sum(w); }
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
struct NamesSlotTwice final : Optimizer {
  static void describe(Schema<NamesSlotTwice>& s) { s.doc("Has two slots of one name."); }
  std::vector<std::string> slots() const override { return {"momentum", "momentum"}; }
  void update(const Variable&, const Tensor&, const Tensor&, const Tensor&, Slots) override {}
};
struct FailingRun final : Executable {
  void run(std::span<const Tensor>, std::span<Tensor>, std::span<Tensor>) override { throw 42; }
  size_t arena_bytes() const override { return 0; }
  void profile(bool) override {}
  std::vector<ProfileEntry> rows() const override { return {}; }
};
/// A device that throws when it is asked for a sine, makes no executable of a cosine, and runs
/// nothing.
struct NoExecutable final : Device {
  static void describe(Schema<NoExecutable>& s) { s.doc("Compiles nothing."); }
  bool supports(const Op& op, std::span<const TensorSpec>,
                std::span<const TensorSpec>) const override {
    if (op.label() == "sin") throw std::out_of_range("the shelf has 3 places");
    return true;
  }
  std::unique_ptr<Executable> compile(const Program& program) override {
    if (program.code.front().op->label() == "cos") return nullptr;
    return std::make_unique<FailingRun>();
  }
  Dict information() const override { return {}; }
};
struct NoOutput final : UnaryLayer {
  static void describe(Schema<NoOutput>& s) { s.doc("Gives no tensor."); }
  Tensor call(const Tensor&, const Call&) override { return {}; }
};

}  // namespace

CRESCENT_PLUGIN("careless", "1.0.0") {
  registry.add<CallsItself>("CallsItself");
  registry.add<ScalarStart>("ScalarStart");
  registry.add<ScalarLimit>("ScalarLimit");
  registry.add<NoResult>("NoResult");
  registry.add<AssignsNothing>("AssignsNothing");
  registry.add<ForgetsSlots>("ForgetsSlots");
  registry.add<NamesOneSlot>("NamesOneSlot");
  registry.add<NamesSlotTwice>("NamesSlotTwice");
  registry.add<NoExecutable>("NoExecutable");
  registry.add<NoOutput>("NoOutput");
}
