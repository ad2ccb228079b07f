// Convolutions with windows of a single pixel are products: (pixels, in) times (in, out). As such
// they have every post-op, prepared weights and updates within the gradient.
#include <algorithm>
#include <vector>

#include "convolution/convolution.h"
#include "normalization/normalization.h"

namespace crescent::cpu {
namespace {

bool is_pointwise(const ConvPlan& plan) {
  return plan.groups == 1 && std::all_of(plan.axes.begin(), plan.axes.end(), [](const auto& axis) {
           return axis.kernel == 1 && axis.stride == 1 && axis.before == 0 && axis.after == 0;
         });
}

/// The last axis, and all others as one; a bias stays.
TensorSpec as_matrix(const TensorSpec& spec) {
  if (spec.shape.rank() < 2) return spec;
  return {spec.dtype, {spec.shape.slice(0, -1).size(), spec.shape[-1]}};
}

/// The product with the post-ops of the convolution but moments.
OpPtr product_for(const Op& convolution, ConvPass pass) {
  auto product = std::make_shared<Matmul>();
  product->transpose_a = pass == ConvPass::backward_kernel;
  product->transpose_b = pass == ConvPass::backward_data;
  if (convolution.name() != WithPostOps::kName) return product;
  auto with = std::make_shared<WithPostOps>(static_cast<const WithPostOps&>(convolution));
  std::erase(with->post, PostOp::moments);
  if (with->post.empty() && PostOps(convolution).mixed == Mixed::no) return product;
  with->op = product;
  return with;
}

std::unique_ptr<Kernel> make_product(const Op& op, std::span<const TensorSpec> inputs,
                                     const TensorSpec& output, const Options& options) {
  const Request product{op, inputs, {&output, 1}, options};
  for (const KernelRow& row : matmul_kernels())
    if (auto kernel = row.make(product)) return kernel;
  return nullptr;
}

/// A product some rows at a time, whose moments are worked out while these are in a cache.
class ProductWithMoments final : public Kernel {
 public:
  /// Null where there is no kernel for the product.
  static std::unique_ptr<Kernel> make(const Op& op, std::vector<TensorSpec> inputs,
                                      const TensorSpec& output, const Options& options) {
    const int64_t rows = output.shape[0], columns = output.shape[1];
    const int64_t chunk = std::clamp<int64_t>(kChunkValues / columns, 1, rows);
    auto part = [&](int64_t count) {
      inputs[0].shape = {count, inputs[0].shape[1]};
      return make_product(op, inputs, {output.dtype, {count, columns}}, options);
    };
    std::unique_ptr<Kernel> whole = part(chunk), rest = rows % chunk ? part(rows % chunk) : nullptr;
    if (!whole || (rows % chunk && !rest)) return nullptr;
    return std::unique_ptr<Kernel>(
        new ProductWithMoments({rows, columns, inputs[0].shape[1], chunk}, inputs.size(),
                               std::move(whole), std::move(rest)));
  }

  void run(const Arguments& a) override {
    for (int64_t first = 0; first < sizes_.rows; first += sizes_.chunk) run_chunk(a, first);
    for (int64_t c = 0; c < sizes_.columns; ++c)
      combine_moments(
          means(a, 0), means(a, blocks()), blocks(), sizes_.columns, c,
          [&](int64_t i) { return rows(i); }, a.out<float>(1), a.out<float>(2));
  }
  std::string name() const override { return whole_->name(); }
  size_t scratch_bytes() const override {
    return product_bytes() + static_cast<size_t>(2 * blocks() * sizes_.columns) * sizeof(float);
  }
  double flops() const override {
    return 2.0 * static_cast<double>(sizes_.rows * sizes_.columns) *
           static_cast<double>(sizes_.depth);
  }

 private:
  static constexpr int64_t kChunkValues = 1 << 19;  ///< of the result: they fit all cores' caches
  static constexpr int64_t kBlockValues = 1 << 14;
  struct Sizes {
    int64_t rows, columns, depth, chunk;
  };

  ProductWithMoments(Sizes sizes, size_t inputs, std::unique_ptr<Kernel> whole,
                     std::unique_ptr<Kernel> rest)
      : sizes_(sizes), whole_(std::move(whole)), rest_(std::move(rest)), inputs_(inputs) {}

  void run_chunk(const Arguments& a, int64_t first) {
    const int64_t count = std::min(sizes_.chunk, sizes_.rows - first);
    std::copy_n(a.inputs, inputs_.size(), inputs_.begin());
    inputs_[0] += static_cast<size_t>(first * sizes_.depth) * sizeof(float);
    float* y = a.out<float>(0) + first * sizes_.columns;
    auto* output = reinterpret_cast<std::byte*>(y);
    (count == sizes_.chunk ? whole_ : rest_)->run({inputs_.data(), &output, a.scratch, a.pool});
    const int64_t begin = first / sizes_.chunk * blocks_of(sizes_.chunk);
    a.pool.parallel(blocks_of(count), [&](int64_t i, int) {
      loops_.moments({rows(begin + i), sizes_.columns, y + i * block() * sizes_.columns},
                     means(a, begin + i), means(a, blocks() + begin + i));
    });
  }

  /// Rows whose moments are worked out at once.
  int64_t block() const { return std::max<int64_t>(kBlockValues / sizes_.columns, 16); }
  int64_t blocks_of(int64_t rows) const { return (rows + block() - 1) / block(); }
  int64_t blocks() const {
    return sizes_.rows / sizes_.chunk * blocks_of(sizes_.chunk) +
           blocks_of(sizes_.rows % sizes_.chunk);
  }
  int64_t rows(int64_t i) const {
    const int64_t each = blocks_of(sizes_.chunk), chunk = i / each,
                  of_chunk = std::min(sizes_.chunk, sizes_.rows - chunk * sizes_.chunk);
    return std::min(block(), of_chunk - i % each * block());
  }
  size_t product_bytes() const {
    const size_t rest = rest_ ? rest_->scratch_bytes() : 0;
    return (std::max(whole_->scratch_bytes(), rest) + 63) / 64 * 64;
  }
  /// Means of a block's columns; those after all means are sums of squared deviations.
  float* means(const Arguments& a, int64_t i) const {
    return reinterpret_cast<float*>(a.scratch + product_bytes()) + i * sizes_.columns;
  }

  Sizes sizes_;
  std::unique_ptr<Kernel> whole_, rest_;
  std::vector<const std::byte*> inputs_;
  NormalizationLoops<float> loops_ = normalization_loops<float>();
};

}  // namespace

std::unique_ptr<Kernel> make_pointwise_convolution(const Request& r) {
  const ConvPlan plan(r);
  if (!is_pointwise(plan) || plan.empty()) return nullptr;
  const auto is_single = [](const TensorSpec& spec) { return spec.dtype == DType::float32; };
  if (!std::all_of(r.inputs.begin(), r.inputs.end(), is_single)) return nullptr;
  std::vector<TensorSpec> inputs;
  for (const TensorSpec& input : r.inputs) inputs.push_back(as_matrix(input));
  const TensorSpec output = as_matrix(r.outputs[0]);
  const OpPtr op = product_for(r.op, plan.pass);
  if (!plan.moments) return make_product(*op, inputs, output, r.options);
  if (plan.residual || plan.gated) return nullptr;
  return ProductWithMoments::make(*op, std::move(inputs), output, r.options);
}

}  // namespace crescent::cpu
