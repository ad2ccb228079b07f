// The gradient over whole sequences. The batch is divided into parts, and each part goes back
// through time separately, in chunks of steps: first the steps, then the gradient of the inputs and
// the contribution to the gradients of the weights. The division of sums depends on shapes only, so
// results do not depend on the number of threads.
#pragma once
#include "matmul/matmul.h"
#include "recurrent/sequence.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {

/// The number of rows (one per sample and step) of a chunk. Their gradients are kept in memory
/// until they are added to the gradients of the weights.
constexpr int64_t kGradientRows = 96;

/// The number of parts into which the gradient divides a batch. With parts of half of kPartRows
/// samples the products of a step are a tenth slower, because they have few rows; such parts are
/// only used if the batch has many.
inline int64_t gradient_part_count(int64_t batch) {
  const int64_t part_count = min_part_count(batch);
  return batch < kManyParts * kPartRows / 2 ? part_count : std::max(part_count, kManyParts);
}
/// The base of the LSTM and GRU gradients. The batch is divided into parts; consecutive parts of
/// the batch form a group, which adds up its own gradients of the weights. The sums of all groups
/// are added at the end.
template <class T>
class RecurrentGradient : public Recurrent<T> {
 public:
  /// `bias_size` is the number of values of the bias. `is_shared` tells whether the products with x
  /// and with h have the same gradient. `factors_input_index` is the index of the input with
  /// dropout factors, which may be missing.
  RecurrentGradient(const Request& r, int64_t gate_count, int64_t bias_size, bool is_shared,
                    int factors_input_index)
      : Recurrent<T>(r, gate_count, gradient_part_count(r.inputs[0].shape[0])),
        factors_input_index_(
            static_cast<int>(r.inputs.size()) > factors_input_index ? factors_input_index : -1),
        bias_size_(bias_size),
        chunk_steps_(std::clamp<int64_t>(kGradientRows / this->max_samples(), 1,
                                         std::max<int64_t>(1, this->steps_))),
        weight_rows_(this->features_ + this->units_),
        sum_size_(weight_rows_ * this->padded(this->width_) + bias_size),
        group_count_(std::min(this->part_count_,
                              std::clamp<int64_t>(kMaxSumValues / (1 + sum_size_), 4, 16))),
        dz_stride_(row_stride(this->width_)),
        x_stride_(row_stride(weight_rows_)) {
    packed_kernel_offset_ = this->shared_.reserve(this->padded(this->features_) * this->width_);
    packed_recurrent_offset_ = this->shared_.reserve(this->padded(this->units_) * this->width_);
    sums_offset_ = this->shared_.reserve(group_count_ * sum_size_);
    const int64_t samples = this->max_samples(), rows = samples * chunk_steps_;
    dh_offset_ = thread_layout_.reserve(samples * this->padded(this->units_)),
    x_rows_offset_ = thread_layout_.reserve(rows * x_stride_);
    dx_rows_offset_ = thread_layout_.reserve(rows * this->padded(this->features_));
    dx_products_offset_ = dh_products_offset_ = thread_layout_.reserve(rows * dz_stride_);
    if (!is_shared) dh_products_offset_ = thread_layout_.reserve(rows * dz_stride_);
  }
  double flops() const override { return 2 * Recurrent<T>::flops(); }

 protected:
  const T* factors(const Arguments& a) const {
    return factors_input_index_ < 0 ? nullptr : a.in<T>(factors_input_index_);
  }
  struct Tensors {
    const T *x, *h0, *kernel, *recurrent, *hs, *dlast_h;
    const T* factors;  ///< dropout factors of states, or null
    T *dx, *dh0, *dkernel, *drecurrent, *dbias;
  };
  /// The data of one step for one sample.
  struct SampleStep {
    int64_t sample, step;
    /// On input the gradient of h; on output the part of the gradient of h_before that does not
    /// come from products with weights.
    T* dh;
    T *dx_products, *dh_products;  ///< gradients of the products with x and with h
    T* dbias;
    const T* h_before;  ///< the previous state, after dropout
  };

  /// Calls row(SampleStep) for all samples and steps, from the last step to the first. With
  /// `accumulates`, the gradient that row() leaves in dh is part of the gradient of the previous
  /// state; otherwise it is overwritten.
  template <class F>
  void run_backwards(const Arguments& a, const Tensors& p, bool accumulates, F&& run_row) const {
    const int64_t blocks = (this->width_ + kDepth - 1) / kDepth;
    a.threads.parallel(2 * blocks, [&](int64_t i, int) {
      const bool is_kernel = i < blocks;
      this->loops_.pack_transposed(
          is_kernel ? this->features_ : this->units_, this->width_,
          is_kernel ? p.kernel : p.recurrent, i % blocks,
          this->scratch(a, is_kernel ? packed_kernel_offset_ : packed_recurrent_offset_));
    });
    a.threads.parallel(group_count_, [&](int64_t group, int) {
      T* sums = this->scratch(a, sums_offset_) + group * sum_size_;
      std::fill_n(sums, sum_size_, T{0});
      for (int64_t part = this->part_count_ * group / group_count_;
           part < this->part_count_ * (group + 1) / group_count_; ++part) {
        run_part_backwards(a, p, accumulates, this->first_sample(part),
                           this->first_sample(part + 1), sums, run_row);
      }
    });
    add_group_sums(a, p);
  }

 private:
  // largest number of values of the sums of all groups together
  static constexpr int64_t kMaxSumValues = int64_t{32} << 20;
  /// The distance between the beginnings of rows of `width` values. It is not a power of two,
  /// because rows at such distances would compete for the same cache sets.
  int64_t row_stride(int64_t width) const { return this->padded(width) + this->loops_.lanes; }

  /// Multiplies a row of states, or of the gradient of states, by the dropout factors of the
  /// sample, if there are any.
  void apply_dropout(const Tensors& p, int64_t sample, T* row) const {
    for (int64_t u = 0; p.factors && u < this->units_; ++u)
      row[u] *= p.factors[sample * this->units_ + u];
  }

  template <class F>
  void run_part_backwards(const Arguments& a, const Tensors& p, bool accumulates, int64_t first,
                          int64_t last, T* sums, F&& run_row) const {
    T* memory = reinterpret_cast<T*>(thread_scratch(thread_layout_.bytes()));
    const int64_t units = this->units_, features = this->features_, samples = last - first,
                  padded = this->padded(units);
    T *dh = memory + dh_offset_, *dbias = sums + sum_size_ - bias_size_;
    for (int64_t i = 0; i < samples; ++i)
      std::copy_n(p.dlast_h + (first + i) * units, units, dh + i * padded);
    for (int64_t end = this->steps_; end > 0;) {
      const int64_t begin = (end - 1) / chunk_steps_ * chunk_steps_;
      for (int64_t t = end - 1; t >= begin; --t) {
        T *x_rows = memory + x_rows_offset_ + (t - begin) * samples * x_stride_,
          *dx_products = memory + dx_products_offset_ + (t - begin) * samples * dz_stride_;
        T* dh_products = memory + dh_products_offset_ + (t - begin) * samples * dz_stride_;
        for (int64_t i = 0; i < samples; ++i) {
          T* x_row = std::copy_n(p.x + this->row_offset(first + i, t, features), features,
                                 x_rows + i * x_stride_);
          std::copy_n(
              t ? p.hs + this->row_offset(first + i, t - 1, units) : p.h0 + (first + i) * units,
              units, x_row);
          apply_dropout(p, first + i, x_row);
          run_row(SampleStep{first + i, t, dh + i * padded, dx_products + i * dz_stride_,
                             dh_products + i * dz_stride_, dbias, x_row});
        }
        this->loops_.multiply_transposed(samples, units, this->width_, dh_products, dz_stride_,
                                         this->scratch(a, packed_recurrent_offset_), accumulates,
                                         dh);
        for (int64_t i = 0; i < samples; ++i) apply_dropout(p, first + i, dh + i * padded);
      }
      run_chunk_backwards(a, p, first, samples, begin, end - begin, memory, sums);
      end = begin;
    }
    for (int64_t i = 0; i < samples; ++i)
      std::copy_n(dh + i * padded, units, p.dh0 + (first + i) * units);
  }

  /// Computes, for a chunk of steps, dx and the terms of the gradients of weights.
  void run_chunk_backwards(const Arguments& a, const Tensors& p, int64_t first, int64_t samples,
                           int64_t begin, int64_t steps, T* memory, T* sums) const {
    const int64_t features = this->features_, rows = samples * steps,
                  padded = this->padded(features);
    T* dx = memory + dx_rows_offset_;
    this->loops_.multiply_transposed(rows, features, this->width_, memory + dx_products_offset_,
                                     dz_stride_, this->scratch(a, packed_kernel_offset_), false,
                                     dx);
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(dx + row * padded, features,
                  p.dx + this->row_offset(first + row % samples, begin + row / samples, features));
    }
    this->loops_.add_weight_gradient(rows, features, memory + x_rows_offset_, x_stride_,
                                     this->width_, memory + dx_products_offset_, dz_stride_, sums);
    this->loops_.add_weight_gradient(rows, this->units_, memory + x_rows_offset_ + features,
                                     x_stride_, this->width_, memory + dh_products_offset_,
                                     dz_stride_, sums + features * this->padded(this->width_));
  }

  void add_group_sums(const Arguments& a, const Tensors& p) const {
    const T* sums = this->scratch(a, sums_offset_);
    auto add_groups = [&](const T* first, T* to, int64_t count) {
      std::copy_n(first, count, to);
      for (int64_t group = 1; group < group_count_; ++group)
        accumulate(to, first + group * sum_size_, count);
    };
    a.threads.blocks(
        weight_rows_, std::max<int64_t>(1, 2 * kMinMultiplicationsPerThread / (1 + this->width_)),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            T* to = i < this->features_ ? p.dkernel + i * this->width_
                                        : p.drecurrent + (i - this->features_) * this->width_;
            add_groups(sums + i * this->padded(this->width_), to, this->width_);
          }
        });
    add_groups(sums + sum_size_ - bias_size_, p.dbias, bias_size_);
  }

  int factors_input_index_;
  int64_t bias_size_, chunk_steps_;
  int64_t weight_rows_;  ///< the number of rows of kernel and recurrent weights together
  int64_t sum_size_;  ///< the number of gradients (weights and bias) that a group of parts adds up
  int64_t group_count_;  ///< the number of groups
  /// Distances between rows in values: of gradients of products (dz), and of rows that contain x
  /// and then h_before.
  int64_t dz_stride_, x_stride_;
  ScratchLayout<T> thread_layout_;  ///< the layout of the thread's scratch memory
  // the offsets of arrays in the kernel's scratch memory
  size_t packed_kernel_offset_ = 0, packed_recurrent_offset_ = 0, sums_offset_ = 0;
  // the offsets of arrays in the thread's scratch memory
  size_t dh_offset_ = 0, x_rows_offset_ = 0, dx_rows_offset_ = 0, dx_products_offset_ = 0,
         dh_products_offset_ = 0;
};

}  // namespace crescent::cpu
