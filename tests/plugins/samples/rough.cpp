// An operation that computes float32 wrongly, an operation that nothing computes, a loss that does
// not return a tensor, a correct model, and a communicator that doubles sums.
#include "crescent/device/cpu_kernel.h"
#include "crescent/layer/operation.h"
#include "crescent/model/model.h"
#include "crescent/plugin.h"
#include "crescent/program/communicator.h"

using namespace crescent;

namespace {

/// An op x -> x that adds a half to float32.
struct Rough final : OpOf<Rough> {
  static constexpr const char* kName = "rough.same";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors vjp(const Vjp& v) const override { return {v.gradients[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override {
    return {in[0].dtype() == DType::float32 ? in[0] + 0.5 : in[0]};
  }
};

Tensor same(const Tensor& x) { return apply1(Rough(), {x}); }

/// An op without decompose() and compute(), whose kernel has another name.
struct NoWay final : OpOf<NoWay> {
  static constexpr const char* kName = "rough.noway";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
};

Tensor no_way(const Tensor& x) { return apply1(NoWay(), {x}); }

class NoWayKernel final : public CpuKernel {
 public:
  static void describe(Schema<NoWayKernel>& s) { s.doc("Takes nothing."); }
  bool prepare(const CpuRequest&) override { return false; }
  void run(const CpuArguments&) override {}
};

class Doubling final : public Communicator {
 public:
  static void describe(Schema<Doubling>& s) { s.doc("Doubles sums, and writes beyond copies."); }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) override {
    if (kind != ReduceKind::sum || dtype != DType::float32) return;
    auto* x = static_cast<float*>(data);
    std::transform(x, x + count, x, [](float each) { return 2 * each; });
  }
  void broadcast(void* data, size_t bytes, int) override {
    static_cast<std::byte*>(data)[bytes] = std::byte{1};
  }
  void leave(const std::string&) noexcept override {}
};

class NoLoss final : public Loss {
 public:
  static void describe(Schema<NoLoss>& s) { s.doc("Gives no tensor."); }
  Tensor call(const Tensor&, const Tensor&) const override { return {}; }
};

/// A model that makes its layers in its constructor and builds them in its first call.
class Tower final : public Model {
 public:
  static void describe(Schema<Tower>& s) { s.doc("Two dense layers."); }
  void configured() override {
    Model::configured();
    for (const LayerPtr& layer : {first_, second_}) track(layer);
  }
  Tensors call(const Tensors& x, const Call&) override {
    return {(*second_)((*first_)(x.front()))};
  }

 private:
  LayerPtr first_ = make<Layer>("Dense", {{"units", 3}, {"activation", "tanh"}});
  LayerPtr second_ = make<Layer>("Dense", {{"units", 1}});
};

}  // namespace

CRESCENT_PLUGIN("rough", "1.0") {
  Operations(registry, "rough").add("RoughSame", "rough_same(x)", same, "Roughly x.");
  Operations(registry, "rough").add("NoWay", "no_way(x)", no_way, "Nowhere.");
  registry.add<NoWayKernel>("rough.nowai");
  registry.add<Doubling>("Doubling");
  registry.add<NoLoss>("NoLoss");
  registry.add<Tower>("Tower");
}
