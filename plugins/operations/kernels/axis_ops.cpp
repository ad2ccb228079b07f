#include "axis_ops.h"

#include <algorithm>
#include <cstring>

#include "../host.h"
#include "crescent/cpu_kernel.h"

namespace crescent::operations {
namespace {

constexpr int64_t kWork = 16384;  ///< elements that are worth another thread

/// A dense array as outer x length x inner around one axis.
struct AxisView {
  AxisView() = default;
  AxisView(const Shape& shape, int axis)
      : outer(shape.slice(0, axis).size()),
        length(shape[axis]),
        inner(shape.slice(axis + 1, shape.rank()).size()) {}
  int64_t lines() const { return outer * length * inner == 0 ? 0 : outer; }
  int64_t outer = 0, length = 0, inner = 0;
};

// ---- roll

/// (x), 0 <= shift < its length.
struct Roll final : OpOf<Roll> {
  static constexpr const char* kName = "operations.roll";
  int axis = 0;
  int64_t shift = 0;
  auto fields() const { return std::tie(axis, shift); }
  bool takes(DType) const override { return true; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override {
    const int64_t n = in[0].dim(axis);
    return {ops::concatenate(Tensors{ops::slice_axis(in[0], axis, n - shift, n),
                                     ops::slice_axis(in[0], axis, 0, n - shift)},
                             axis)};
  }
  Tensors vjp(const Vjp& v) const override {
    return {rolled(v.gradients[0], axis, v.inputs[0].dim(axis) - shift)};
  }
};

class RollKernel final : public CpuKernel {
 public:
  static void describe(Schema<RollKernel>& s) { s.doc("Some lines a thread."); }
  bool prepare(const CpuRequest& r) override {
    const auto* op = r.op_as<Roll>();
    if (r.inputs[0].dtype == DType::string) return false;
    view_ = AxisView(r.inputs[0].shape, op->axis);
    const auto each = view_.inner * static_cast<int64_t>(size_of(r.inputs[0].dtype));
    front_ = op->shift * each, line_ = view_.length * each;
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t grain = std::max<int64_t>(1, 4 * kWork / std::max<int64_t>(line_, 1));
    a.threads.blocks(view_.lines(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const std::byte* from = a.inputs[0] + i * line_;
        std::byte* to = a.outputs[0] + i * line_;
        std::memcpy(to, from + line_ - front_, static_cast<size_t>(front_));
        std::memcpy(to + front_, from, static_cast<size_t>(line_ - front_));
      }
    });
  }

 private:
  AxisView view_;
  int64_t front_ = 0, line_ = 0;  ///< bytes
};

// ---- running products

/// (x) -> products of float32 in float64, so that many factors lose nothing.
struct RunningProduct final : OpOf<RunningProduct> {
  static constexpr const char* kName = "operations.running_product";
  int axis = 0;
  auto fields() const { return std::tie(axis); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const AxisView view(in[0].shape(), axis);
    with_type(in[0].dtype(), [&]<class T>(T) {
      for (int64_t o = 0; o < view.lines(); ++o)
        multiply<T>(view, in[0].data<T>(), out[0].mutable_data<T>(), o, 0, view.inner);
    });
    return true;
  }
  /// In steps of doubled width: after each, an element is the product of twice as many before it.
  Tensors decompose(std::span<const Tensor> in) const override {
    Tensor x = in[0];
    const int64_t n = x.dim(axis);
    if (n < 0) fail("cumprod: the size of the axis must be known, got shape ", x.shape());
    std::vector<int64_t> before(static_cast<size_t>(x.rank()), 0), after = before;
    for (int64_t width = 1; width < n; width *= 2) {
      before[static_cast<size_t>(axis)] = width;
      x = x * ops::pad(ops::slice_axis(x, axis, 0, n - width), before, after, 1);
    }
    return {x};
  }
  /// Columns [begin, end) of the lines of outer element o, at most kTile.
  static constexpr int64_t kTile = 256;
  template <class T>
  static void multiply(const AxisView& view, const T* x, T* y, int64_t o, int64_t begin,
                       int64_t end) {
    using Product = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    if (view.inner == 1) {
      Product product = 1;
      for (int64_t i = o * view.length; i < (o + 1) * view.length; ++i)
        y[i] = static_cast<T>(product *= static_cast<Product>(x[i]));
      return;
    }
    for (int64_t first = begin; first < end; first += kTile) {
      const int64_t width = std::min(kTile, end - first);
      Product products[kTile];
      std::fill_n(products, width, Product{1});
      for (int64_t i = 0; i < view.length; ++i) {
        const int64_t at = (o * view.length + i) * view.inner + first;
        for (int64_t j = 0; j < width; ++j) {
          products[j] *= static_cast<Product>(x[at + j]);
          y[at + j] = static_cast<T>(products[j]);
        }
      }
    }
  }
};

class RunningProductKernel final : public CpuKernel {
 public:
  static void describe(Schema<RunningProductKernel>& s) { s.doc("Some lines a thread."); }
  bool prepare(const CpuRequest& r) override {
    view_ = AxisView(r.inputs[0].shape, r.op_as<RunningProduct>()->axis);
    dtype_ = r.inputs[0].dtype;
    return dtype_ != DType::bfloat16 && dtype_ != DType::float16;
  }
  void run(const CpuArguments& a) override {
    constexpr int64_t kTile = RunningProduct::kTile;
    const int64_t tiles = (view_.inner + kTile - 1) / kTile;
    const int64_t work = std::max<int64_t>(1, view_.length * std::min(view_.inner, kTile));
    with_type(dtype_, [&]<class T>(T) {
      a.threads.blocks(view_.lines() * tiles, std::max<int64_t>(1, kWork / work),
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) {
                           const int64_t first = i % tiles * kTile;
                           RunningProduct::multiply<T>(view_, a.in<T>(0), a.out<T>(0), i / tiles,
                                                       first, std::min(first + kTile, view_.inner));
                         }
                       });
    });
  }

 private:
  AxisView view_;
  DType dtype_ = DType::float32;
};

}  // namespace

Tensor rolled(const Tensor& x, int axis, int64_t shift) {
  Roll op;
  op.axis = axis, op.shift = shift;
  return apply1(op, {x});
}

Tensor running_product(const Tensor& x, int axis) {
  RunningProduct op;
  op.axis = axis;
  const bool half = x.dtype() == DType::bfloat16 || x.dtype() == DType::float16;
  return ops::cast(apply1(op, {half ? ops::cast(x, DType::float32) : x}), x.dtype());
}

void add_axis_kernels(Registry& registry) {
  registry.add<RollKernel>(Roll::kName);
  registry.add<RunningProductKernel>(RunningProduct::kName);
}

}  // namespace crescent::operations
