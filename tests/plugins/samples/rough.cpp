// An operation that computes float32 wrongly, a loss that does not return a tensor, and a correct
// model.
#include "crescent/layer/operation.h"
#include "crescent/model/model.h"
#include "crescent/plugin.h"

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

class NoLoss final : public Loss {
 public:
  static void describe(Schema<NoLoss>& s) { s.doc("Gives no tensor."); }
  Tensor call(const Tensor&, const Tensor&) const override { return {}; }
};

/// A model whose layers are made with it and built by its first call.
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
  registry.add<NoLoss>("NoLoss");
  registry.add<Tower>("Tower");
}
