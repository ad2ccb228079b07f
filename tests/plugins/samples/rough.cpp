// An operation that computes float32 wrongly, an operation that nothing computes, kernels that are
// wrong in several ways, a loss that does not return a tensor, a correct model, and a communicator
// that doubles sums.
#include <cmath>
#include <utility>

#include "crescent/device/cpu_kernel.h"
#include "crescent/layer/operation.h"
#include "crescent/model/model.h"
#include "crescent/ops/linalg.h"
#include "crescent/plugin.h"
#include "crescent/program/communicator.h"

using namespace crescent;

namespace {

/// An op that should return x, but adds 0.5 if x is float32.
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

/// The Cholesky factor of x, with a gradient that is 1.01 times the correct one.
Tensor off_root(const Tensor& x) {
  const Tensor root = ops::cholesky(x);
  return root * 1.01 - ops::stop_gradient(root * 0.01);
}

/// An op without decompose() and compute(); its kernel is registered under another name, so that
/// nothing computes the op.
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

/// In what way TwiceKernel is wrong.
enum Fault {
  kExact,    ///< not at all
  kPercent,  ///< returns 2.02 x
  kBeyond,   ///< writes one element beyond its output
  kSums,     ///< adds to the old contents of its output
  kOrder,    ///< depends on the order in which threads compute blocks
  kPlace,    ///< clears its output first, though the output may be the memory of the input
  kRows,     ///< returns 0 from the ninth row on
  kColumns,  ///< returns 0 from the 17th column on
  kFar,      ///< writes 4000 elements beyond its output
  kReads     ///< reads one element beyond its input
};

struct FaultNames {
  const char *op, *class_name, *signature;
};
constexpr FaultNames kFaults[] = {{"rough.exact", "TwiceExact", "twice_exact(x)"},
                                  {"rough.percent", "TwicePercent", "twice_percent(x)"},
                                  {"rough.beyond", "TwiceBeyond", "twice_beyond(x)"},
                                  {"rough.sums", "TwiceSums", "twice_sums(x)"},
                                  {"rough.order", "TwiceOrder", "twice_order(x)"},
                                  {"rough.place", "TwicePlace", "twice_place(x)"},
                                  {"rough.rows", "TwiceRows", "twice_rows(x)"},
                                  {"rough.columns", "TwiceColumns", "twice_columns(x)"},
                                  {"rough.far", "TwiceFar", "twice_far(x)"},
                                  {"rough.reads", "TwiceReads", "twice_reads(x)"}};

/// An op that returns 2 x; its kernel has the fault F.
template <Fault F>
struct Twice final : OpOf<Twice<F>> {
  static constexpr const char* kName = kFaults[F].op;
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override { return {in[0] + in[0]}; }
};

template <Fault F>
Tensor twice(const Tensor& x) {
  return apply1(Twice<F>(), {x});
}

template <Fault F>
class TwiceKernel final : public CpuKernel {
 public:
  static void describe(Schema<TwiceKernel>& s) { s.doc("Twice its input, or nearly."); }
  bool prepare(const CpuRequest& r) override {
    size_ = r.inputs[0].shape.size();
    columns_ = r.inputs[0].shape[-1];
    return r.inputs[0].dtype == DType::float32;
  }
  void run(const CpuArguments& a) override {
    const float* x = a.in<float>(0);
    auto* y = a.out<float>(0);
    if (F == kPlace) std::fill_n(y, size_, 0.0F);
    int64_t processed = 0;
    a.threads.blocks(size_, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i, ++processed) {
        const float old_value = F == kSums || F == kPlace ? y[i] : 0;
        y[i] = old_value + (F == kPercent ? 2.02F : 2) * x[i];
        if ((F == kRows && i / columns_ >= 8) || (F == kColumns && i % columns_ >= 16)) y[i] = 0;
        if (F == kOrder) y[i] += static_cast<float>(processed - i);
      }
    });
    if (F == kBeyond) y[size_] = 1;
    if (F == kFar) std::fill_n(y + size_, 4000, 1.0F);
    if (F == kReads && std::isnan(x[size_])) y[0] = 0;
  }
  bool in_place(int) const override { return F == kPlace || F == kExact; }

 private:
  int64_t size_ = 0, columns_ = 1;
};

template <Fault... F>
void add_twice(Registry& registry, std::integer_sequence<Fault, F...>) {
  (registry.add<TwiceKernel<F>>(kFaults[F].op), ...);
  Operations functions(registry, "rough");
  (functions.add(kFaults[F].class_name, kFaults[F].signature, twice<F>, "Twice its input."), ...);
}

/// A communicator that doubles sums, and writes a byte beyond the data of a broadcast.
class Doubling final : public Communicator {
 public:
  static void describe(Schema<Doubling>& s) { s.doc("Doubles sums, and writes beyond copies."); }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) override {
    if (kind != ReduceKind::sum || dtype != DType::float32) return;
    auto* x = static_cast<float*>(data);
    std::transform(x, x + count, x, [](float value) { return 2 * value; });
  }
  void broadcast(void* data, size_t bytes, int) override {
    static_cast<std::byte*>(data)[bytes] = std::byte{1};
  }
  void leave(const std::string&) noexcept override {}
};

/// A loss that returns no tensor.
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
  Operations(registry, "rough").add("OffRoot", "off_root(x)", off_root, "A root.");
  Operations(registry, "rough").add("NoWay", "no_way(x)", no_way, "Nowhere.");
  registry.add<NoWayKernel>("rough.nowai");
  add_twice(registry, std::integer_sequence<Fault, kExact, kPercent, kBeyond, kSums, kOrder, kPlace,
                                            kRows, kColumns, kFar, kReads>());
  registry.add<Doubling>("Doubling");
  registry.add<NoLoss>("NoLoss");
  registry.add<Tower>("Tower");
}
