// Half-width matrix products by oneDNN on the fixed tiles of MatmulCut; oneDNN computes the sums in
// float32.
#include "matmul/amx.h"
#include "matmul/matmul.h"
#include "matmul/onednn.h"

namespace crescent::cpu {
namespace {

using dnnl::memory;

class HalfMatmul final : public Kernel {
 public:
  explicit HalfMatmul(const Request& r) : plan_(r), cut_(plan_, false), dtype_(r.outputs[0].dtype) {
    const int64_t last_rows = plan_.m - (cut_.row_tiles - 1) * cut_.rows;
    const int64_t last_columns = plan_.n - (cut_.column_tiles - 1) * cut_.columns;
    for (int64_t rows : {cut_.rows, last_rows}) {
      for (int64_t columns : {cut_.columns, last_columns}) add_primitive(rows, columns);
    }
  }

  void run(const Arguments& a) const override {
    const onednn::Primitives::Region region(primitives_, a.threads.threads());
    a.threads.parallel(
        plan_.count() * cut_.tiles(),
        [&](int64_t part, int worker) { compute(a, cut_.tile(part), region, worker); },
        region.workers());
  }
  std::string name() const override { return "onednn " + implementation_; }
  double flops() const override { return plan_.flops(); }

 private:
  /// Adds the primitive for tiles of this size; its index is primitive_index(rows, columns).
  void add_primitive(int64_t rows, int64_t columns) {
    const auto type = onednn::type_of(dtype_);
    auto strides = [](bool transposed, int64_t ld) {
      return transposed ? memory::dims{1, ld} : memory::dims{ld, 1};
    };
    const memory::desc a({rows, plan_.k}, type, strides(plan_.transpose_a, plan_.lda()));
    const memory::desc b({plan_.k, columns}, type, strides(plan_.transpose_b, plan_.ldb()));
    const memory::desc bias({1, columns}, type, memory::dims{columns, 1}),
        c({rows, columns}, type, memory::dims{plan_.n, 1});
    const dnnl::matmul::desc desc =
        plan_.has_bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    const dnnl::matmul::primitive_desc primitive(desc, onednn::attributes(plan_.activation),
                                                 onednn::engine());
    const char* const implementation = primitive.impl_info_str();
    if (onednn::is_reference(implementation))
      throw dnnl::error(dnnl_unimplemented, "only reference code");
    // The code called "gemm" multiplies pairs of elements along k. For the last element of an odd k
    // it multiplies the element by 0 as well, which makes NaN of infinity.
    if (plan_.k % 2 != 0 && std::string_view(implementation).starts_with("gemm"))
      throw dnnl::error(dnnl_unimplemented, "pairs of an odd number of elements");
    if (implementation_.empty()) implementation_ = implementation;
    onednn::Arguments arguments = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
    if (plan_.has_bias) arguments.emplace_back(DNNL_ARG_BIAS, bias);
    primitives_.add(dnnl::matmul(primitive), primitive, arguments);
  }
  int primitive_index(const MatmulCut::Tile& t) const {
    return (t.i / cut_.rows == cut_.row_tiles - 1 ? 2 : 0) +
           (t.j / cut_.columns == cut_.column_tiles - 1 ? 1 : 0);
  }

  void compute(const Arguments& args, const MatmulCut::Tile& t,
               const onednn::Primitives::Region& region, int worker) const {
    const int64_t row_step = plan_.transpose_a ? 1 : plan_.k,
                  column_step = plan_.transpose_b ? plan_.k : 1;
    const uint16_t* a = args.in<uint16_t>(0) + plan_.a[t.item] + t.i * row_step;
    const uint16_t* b = args.in<uint16_t>(1) + plan_.b[t.item] + t.j * column_step;
    uint16_t* c = args.out<uint16_t>(0) + (t.item * plan_.m + t.i) * plan_.n + t.j;
    plan_.has_bias ? region.run(worker, primitive_index(t), {a, b, c, args.in<uint16_t>(2) + t.j})
                   : region.run(worker, primitive_index(t), {a, b, c});
    if (plan_.activation != ActivationKind::relu) return;
    for (int64_t i = 0; i < t.rows; ++i) {
      onednn::apply_relu(dtype_, reinterpret_cast<std::byte*>(c + i * plan_.n), t.columns);
    }
  }

  MatmulPlan plan_;
  MatmulCut cut_;
  DType dtype_;
  std::string implementation_;
  onednn::Primitives primitives_;
};

}  // namespace

std::unique_ptr<Kernel> make_onednn_matmul(const Request& r) {
  const MatmulPlan plan(r);
  const bool has_same_dtypes =
      r.inputs[0].dtype == r.outputs[0].dtype && r.inputs[1].dtype == r.outputs[0].dtype;
  if (!r.options.onednn || !has_same_dtypes || r.outputs[0].dtype != DType::bfloat16 ||
      plan.flops() == 0)
    return nullptr;
  return onednn::kernel_if_known("matmul", [&] { return std::make_unique<HalfMatmul>(r); });
}

/// The limits were measured on a processor of the family Zen 5.
std::unique_ptr<Kernel> make_small_onednn_matmul(const Request& r) {
  constexpr int64_t kMinRows = 10, kMinDepth = 128;
  constexpr double kMaxExcess = 1.6;  // the size of whole strips in relation to the matrices
  const MatmulPlan plan(r);
  auto excess = [](int64_t lines) {
    return static_cast<double>(pieces(lines, amx::kLines) * amx::kLines) /
           static_cast<double>(lines);
  };
  const bool is_fast_in_strips =
      plan.m >= kMinRows && plan.k >= kMinDepth && excess(plan.m) * excess(plan.n) <= kMaxExcess;
  if (amx::has_tiles() || plan.flops() == 0 || plan.count() > 1 || is_fast_in_strips)
    return nullptr;
  return make_onednn_matmul(r);
}

}  // namespace crescent::cpu
