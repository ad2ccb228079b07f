// Classes of every kind whose code throws an exception; the option is "std" for std::out_of_range,
// "int" for a number.
#include <stdexcept>

#include "crescent/data/stream.h"
#include "crescent/model/callback.h"
#include "crescent/plugin.h"

using namespace crescent;

namespace {

/// The option selects what is thrown; each class throws from another function.
struct Throws {
  std::string what = "std";
  Tensor throw_chosen() const {
    if (what == "int") throw 42;
    throw std::out_of_range("the shelf has 3 places");
  }
};

template <class T>
Schema<T>& with_option(Schema<T>& s) {
  return s.doc("Throws.").field("what", &T::what, "What it throws.").choices({"std", "int"});
}

struct InCall final : UnaryLayer, Throws {
  static void describe(Schema<InCall>& s) { with_option(s); }
  Tensor call(const Tensor&, const Call&) override { return throw_chosen(); }
};
struct InBuild final : UnaryLayer, Throws {
  static void describe(Schema<InBuild>& s) { with_option(s); }
  void build(const Shape&) override { throw_chosen(); }
  Tensor call(const Tensor& x, const Call&) override { return x; }
};
struct InConfigured final : UnaryLayer, Throws {
  static void describe(Schema<InConfigured>& s) { with_option(s); }
  void configured() override { throw_chosen(); }
  Tensor call(const Tensor& x, const Call&) override { return x; }
};
struct InInitializer final : Initializer, Throws {
  static void describe(Schema<InInitializer>& s) { with_option(s); }
  Tensor operator()(const Shape&, DType) const override { return throw_chosen(); }
};
struct InRegularizer final : Regularizer, Throws {
  static void describe(Schema<InRegularizer>& s) { with_option(s); }
  Tensor operator()(const Tensor&) const override { return throw_chosen(); }
};
struct InConstraint final : Constraint, Throws {
  static void describe(Schema<InConstraint>& s) { with_option(s); }
  Tensor operator()(const Tensor&) const override { return throw_chosen(); }
};
struct InActivation final : Activation, Throws {
  static void describe(Schema<InActivation>& s) { with_option(s); }
  Tensor operator()(const Tensor&) const override { return throw_chosen(); }
};
struct InLoss final : Loss, Throws {
  static void describe(Schema<InLoss>& s) { with_option(s); }
  Tensor call(const Tensor&, const Tensor&) const override { return throw_chosen(); }
};
struct InMetric final : Metric, Throws {
  static void describe(Schema<InMetric>& s) { with_option(s); }
  void update_state(const Tensor&, const Tensor&, const Tensor&) override { throw_chosen(); }
  Tensor result() const override { return throw_chosen(); }
};
struct InOptimizer final : Optimizer, Throws {
  static void describe(Schema<InOptimizer>& s) { with_option(s); }
  void update(const Variable&, const Tensor&, const Tensor&, const Tensor&, Slots) override {
    throw_chosen();
  }
};
struct InSlots final : Optimizer, Throws {
  static void describe(Schema<InSlots>& s) { with_option(s); }
  std::vector<std::string> slots() const override {
    return throw_chosen(), std::vector<std::string>();
  }
  void update(const Variable&, const Tensor&, const Tensor&, const Tensor&, Slots) override {}
};
struct InSchedule final : Schedule, Throws {
  static void describe(Schema<InSchedule>& s) { with_option(s); }
  Tensor operator()(const Tensor&) const override { return throw_chosen(); }
};
struct InCallback final : Callback, Throws {
  static void describe(Schema<InCallback>& s) { with_option(s); }
  void on_epoch_end(int64_t, Logs&) override { throw_chosen(); }
};
struct InState final : Callback, Throws {
  static void describe(Schema<InState>& s) { with_option(s); }
  Dict get_state() const override { return throw_chosen(), Dict(); }
};

struct InCursor final : Plain, Throws {
  static constexpr const char* kKind = "dataset";
  static void describe(Schema<InCursor>& s) {
    with_option(s).method("stream", &InCursor::stream, "Elements.");
  }
  Value stream() {
    Generated source;
    source.begin = [thrower = Throws(*this)](uint64_t) {
      return [thrower](Element&) { return thrower.throw_chosen(), true; };
    };
    return shuffle(generated(std::move(source)), {.buffer = 2, .seed = 1});
  }
};

}  // namespace

CRESCENT_PLUGIN("throwing", "1.0.0") {
  registry.add<InCall>("InCall");
  registry.add<InBuild>("InBuild");
  registry.add<InConfigured>("InConfigured");
  registry.add<InInitializer>("InInitializer");
  registry.add<InRegularizer>("InRegularizer");
  registry.add<InConstraint>("InConstraint");
  registry.add<InActivation>("InActivation");
  registry.add<InLoss>("InLoss");
  registry.add<InMetric>("InMetric");
  registry.add<InOptimizer>("InOptimizer");
  registry.add<InSlots>("InSlots");
  registry.add<InSchedule>("InSchedule");
  registry.add<InCallback>("InCallback");
  registry.add<InState>("InState");
  registry.add<InCursor>("InCursor");
}
