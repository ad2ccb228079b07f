// Batch and layer normalization. Statistics of fixed blocks of rows are combined in a fixed order
// in float64.
#include "normalization/normalization.h"

#include <algorithm>
#include <cmath>

#include "kernel/converted.h"
#include "kernel/typed.h"
#include "normalization/batch_norm_parts.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kBlockValues = 1 << 14;  ///< values of x per block; two blocks fit the cache

/// A tensor as rows along its last axis, divided into blocks of rows that depend on the shape only.
struct Blocks {
  int64_t rows, columns, block_rows, block_count;

  explicit Blocks(const Shape& shape)
      : rows(shape.slice(0, shape.rank() - 1).size()),
        columns(shape[-1]),
        block_rows(std::max<int64_t>(kBlockValues / std::max<int64_t>(columns, 1), 16)),
        block_count((rows + block_rows - 1) / block_rows) {}
  int64_t values() const { return block_count * columns; }
  int64_t rows_of_block(int64_t i) const { return std::min(block_rows, rows - i * block_rows); }
  template <class T>
  RowBlock<T> block_at(const T* x, int64_t i) const {
    return {rows_of_block(i), columns, x + i * block_rows * columns};
  }
  int64_t offset(int64_t i) const { return i * block_rows * columns; }
  /// Calls f(column) for all columns, in parallel.
  template <class F>
  void for_each_column(CpuThreads& threads, F&& f) const {
    threads.blocks(columns, 1 + 20000 / (block_count + 1), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) f(c);
    });
  }
};

/// The base of the kernels of batch and layer normalization.
template <class T, class O>
class Normalization : public Kernel {
 public:
  using S = ComputeType<T>;  // type of statistics and parameters

  explicit Normalization(const Request& r)
      : blocks_(r.inputs[0].shape),
        epsilon_(static_cast<const O&>(r.op).epsilon),
        loops_(normalization_loops<T>()) {}

  std::string name() const override { return "highway"; }
  /// The bytes of scratch memory for two values per column and block, and three values per column.
  size_t scratch_bytes() const override {
    return (2 * blocks_.values() + 3 * blocks_.columns) * sizeof(S);
  }

 protected:
  S* first_statistics(const Arguments& a, int64_t block) const {
    return reinterpret_cast<S*>(a.scratch) + block * blocks_.columns;
  }
  S* second_statistics(const Arguments& a, int64_t block) const {
    return first_statistics(a, blocks_.block_count + block);
  }
  S* column_values(const Arguments& a, int i) const {
    return first_statistics(a, 2 * blocks_.block_count + i);
  }
  double total(const Arguments& a, bool is_second, int64_t c) const {
    double sum = 0;
    for (int64_t i = 0; i < blocks_.block_count; ++i)
      sum += (is_second ? second_statistics(a, i) : first_statistics(a, i))[c];
    return sum;
  }
  double rows() const { return static_cast<double>(blocks_.rows); }

  Blocks blocks_;
  double epsilon_;
  NormalizationLoops<T> loops_;
};

template <class T>
class MomentsKernel final : public Kernel {
 public:
  using S = ComputeType<T>;

  explicit MomentsKernel(const Request& r)
      : blocks_(r.inputs[0].shape), loops_(normalization_loops<T>()) {}
  std::string name() const override { return "highway"; }
  size_t scratch_bytes() const override { return 2 * blocks_.values() * sizeof(S); }

  void run(const Arguments& a) const override {
    S *means = reinterpret_cast<S*>(a.scratch), *squared_deviations = means + blocks_.values();
    a.threads.parallel(blocks_.block_count, [&](int64_t i, int) {
      loops_.moments(blocks_.block_at(a.in<T>(0), i), means + i * blocks_.columns,
                     squared_deviations + i * blocks_.columns);
    });
    blocks_.for_each_column(a.threads, [&](int64_t c) {
      combine_moments(
          means, squared_deviations, blocks_.block_count, blocks_.columns, c,
          [&](int64_t i) { return blocks_.rows_of_block(i); }, a.out<S>(0), a.out<S>(1));
    });
  }

 private:
  Blocks blocks_;
  NormalizationLoops<T> loops_;
};

template <class T>
class BatchNormForward final : public Normalization<T, BatchNormTrain> {
 public:
  using Normalization<T, BatchNormTrain>::Normalization;
  using typename Normalization<T, BatchNormTrain>::S;

  void run(const Arguments& a) const override {
    const auto& b = this->blocks_;
    a.threads.parallel(b.block_count, [&](int64_t i, int) {
      this->loops_.moments(b.block_at(a.in<T>(0), i), this->first_statistics(a, i),
                           this->second_statistics(a, i));
    });
    b.for_each_column(a.threads, [&](int64_t c) {
      combine_moments(
          this->first_statistics(a, 0), this->second_statistics(a, 0), b.block_count, b.columns, c,
          [&](int64_t i) { return b.rows_of_block(i); }, a.out<S>(1), a.out<S>(2));
      this->column_values(a, 0)[c] =
          static_cast<S>(a.in<S>(1)[c] / std::sqrt(double{a.out<S>(2)[c]} + this->epsilon_));
    });
    a.threads.parallel(b.block_count, [&](int64_t i, int) {
      this->loops_.normalize(b.block_at(a.in<T>(0), i), a.out<S>(1), this->column_values(a, 0),
                             a.in<S>(2), a.out<T>(0) + b.offset(i));
    });
  }
};

/// Computes dx = gamma rstd (dy - dbeta/n - (x - mean) rstd dgamma/n) for n rows.
template <class T>
class BatchNormBackwardKernel final : public Normalization<T, BatchNormBackward> {
 public:
  using Normalization<T, BatchNormBackward>::Normalization;
  using typename Normalization<T, BatchNormBackward>::S;

  void run(const Arguments& a) const override {
    const auto& b = this->blocks_;
    const T *x = a.in<T>(0), *dy = a.in<T>(4);
    const S* mean = a.in<S>(2);
    a.threads.parallel(b.block_count, [&](int64_t i, int) {
      this->loops_.products(b.block_at(x, i), dy + b.offset(i), mean, this->first_statistics(a, i),
                            this->second_statistics(a, i));
    });
    b.for_each_column(a.threads, [&](int64_t c) { combine(a, c); });
    a.threads.parallel(b.block_count, [&](int64_t i, int) {
      this->loops_.gradient(b.block_at(x, i), dy + b.offset(i), mean, this->column_values(a, 0),
                            this->column_values(a, 1), this->column_values(a, 2),
                            a.out<T>(0) + b.offset(i));
    });
  }

 private:
  void combine(const Arguments& a, int64_t c) const {
    const double rstd = 1 / std::sqrt(a.in<S>(3)[c] + this->epsilon_), scale = a.in<S>(1)[c] * rstd;
    const double dbeta = this->total(a, false, c), dgamma = this->total(a, true, c) * rstd;
    a.out<S>(1)[c] = static_cast<S>(dgamma), a.out<S>(2)[c] = static_cast<S>(dbeta);
    this->column_values(a, 0)[c] = static_cast<S>(scale);
    this->column_values(a, 1)[c] = static_cast<S>(scale * rstd * dgamma / this->rows());
    this->column_values(a, 2)[c] = static_cast<S>(scale * dbeta / this->rows());
  }
};

/// The base of kernels that compute one pass of BatchNormBackwardKernel, for slices of the batch.
class BatchNormPass : public Kernel {
 public:
  explicit BatchNormPass(const Request& r)
      : blocks_(r.inputs[0].shape), loops_(normalization_loops<float>()) {}
  std::string name() const override { return "highway"; }

 protected:
  Blocks blocks_;
  NormalizationLoops<float> loops_;
};

class BatchNormSumsKernel final : public BatchNormPass {
 public:
  using BatchNormPass::BatchNormPass;
  size_t scratch_bytes() const override { return 2 * blocks_.values() * sizeof(float); }
  void run(const Arguments& a) const override {
    float *sums = reinterpret_cast<float*>(a.scratch), *products = sums + blocks_.values();
    a.threads.parallel(blocks_.block_count, [&](int64_t i, int) {
      loops_.products(blocks_.block_at(a.in<float>(0), i), a.in<float>(1) + blocks_.offset(i),
                      a.in<float>(2), sums + i * blocks_.columns, products + i * blocks_.columns);
    });
    blocks_.for_each_column(a.threads, [&](int64_t c) {
      a.out<float>(0)[c] = total(sums + c), a.out<float>(1)[c] = total(products + c);
    });
  }

 private:
  float total(const float* block_sums) const {
    double sum = 0;
    for (int64_t i = 0; i < blocks_.block_count; ++i) sum += block_sums[i * blocks_.columns];
    return static_cast<float>(sum);
  }
};

class BatchNormFactorsKernel final : public Kernel {
 public:
  explicit BatchNormFactorsKernel(const Request& r)
      : op_(static_cast<const BatchNormFactors&>(r.op)), channels_(r.inputs[0].shape.size()) {}
  std::string name() const override { return "loop"; }
  void run(const Arguments& a) const override {
    const double inverse_count = 1 / static_cast<double>(op_.rows);
    for (int64_t c = 0; c < channels_; ++c) {
      const double rstd = 1 / std::sqrt(a.in<float>(3)[c] + op_.epsilon),
                   scale = a.in<float>(2)[c] * rstd, dbeta = a.in<float>(0)[c],
                   dgamma = a.in<float>(1)[c] * rstd;
      a.out<float>(0)[c] = static_cast<float>(dgamma);
      a.out<float>(1)[c] = static_cast<float>(scale);
      a.out<float>(2)[c] = static_cast<float>(scale * rstd * dgamma * inverse_count);
      a.out<float>(3)[c] = static_cast<float>(scale * dbeta * inverse_count);
    }
  }

 private:
  BatchNormFactors op_;
  int64_t channels_;
};

class BatchNormGradientPass final : public BatchNormPass {
 public:
  using BatchNormPass::BatchNormPass;
  bool in_place(int input) const override { return input == 1; }
  void run(const Arguments& a) const override {
    a.threads.parallel(blocks_.block_count, [&](int64_t i, int) {
      const int64_t offset = blocks_.offset(i);
      loops_.gradient(blocks_.block_at(a.in<float>(0), i), a.in<float>(1) + offset, a.in<float>(2),
                      a.in<float>(3), a.in<float>(4), a.in<float>(5), a.out<float>(0) + offset);
    });
  }
};

template <class K>
std::unique_ptr<Kernel> make_pass(const Request& r) {
  return std::make_unique<K>(r);
}

template <class T>
class LayerNormForward final : public Normalization<T, LayerNorm> {
 public:
  using Normalization<T, LayerNorm>::Normalization;
  using typename Normalization<T, LayerNorm>::S;

  void run(const Arguments& a) const override {
    const auto& b = this->blocks_;
    a.threads.parallel(b.block_count, [&](int64_t i, int) {
      const int64_t row = i * b.block_rows;
      this->loops_.row_forward(b.block_at(a.in<T>(0), i), a.in<S>(1), a.in<S>(2), this->epsilon_,
                               a.out<T>(0) + b.offset(i), a.out<S>(1) + row, a.out<S>(2) + row);
    });
  }
  size_t scratch_bytes() const override { return 0; }
};

template <class T>
class LayerNormGradient final : public Normalization<T, LayerNormBackward> {
 public:
  using Normalization<T, LayerNormBackward>::Normalization;
  using typename Normalization<T, LayerNormBackward>::S;

  void run(const Arguments& a) const override {
    const auto& b = this->blocks_;
    a.threads.parallel(b.block_count, [&](int64_t i, int) {
      const int64_t row = i * b.block_rows;
      this->loops_.row_gradient(b.block_at(a.in<T>(0), i), a.in<S>(1), a.in<S>(2) + row,
                                a.in<S>(3) + row, a.in<T>(4) + b.offset(i),
                                a.out<T>(0) + b.offset(i), this->first_statistics(a, i),
                                this->second_statistics(a, i));
    });
    b.for_each_column(a.threads, [&](int64_t c) {
      a.out<S>(1)[c] = static_cast<S>(this->total(a, false, c)),
      a.out<S>(2)[c] = static_cast<S>(this->total(a, true, c));
    });
  }
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Request& r) {
  return make_typed_or_half<K>(r, r.inputs[0].dtype);
}

}  // namespace

std::span<const KernelEntry> normalization_kernels() {
  static constexpr KernelFactory kThroughFloat32 = make_converted<normalization_kernels>;
  static constexpr KernelEntry kEntries[] = {
      {"batch_moments", make<MomentsKernel>},
      {"batch_moments", kThroughFloat32},
      {"batch_norm_train", make<BatchNormForward>},
      {"batch_norm_train", kThroughFloat32},
      {"batch_norm_backward", make<BatchNormBackwardKernel>},
      {"batch_norm_backward", kThroughFloat32},
      {"batch_norm_sums", make_pass<BatchNormSumsKernel>},
      {"batch_norm_factors", make_pass<BatchNormFactorsKernel>},
      {"batch_norm_gradient", make_pass<BatchNormGradientPass>},
      {"layer_norm", make<LayerNormForward>},
      {"layer_norm", kThroughFloat32},
      {"layer_norm_backward", make<LayerNormGradient>},
      {"layer_norm_backward", kThroughFloat32}};
  return kEntries;
}

}  // namespace crescent::cpu
