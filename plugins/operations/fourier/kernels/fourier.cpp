#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "crescent/device/cpu_kernel.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"
#include "fourier_transform.h"
#include "lanes.h"

namespace crescent::operations {
namespace {

/// A view of consecutive rows of `row_length` elements in a tensor.
template <class T>
struct RowView {
  T* numbers;
  int64_t row_length;
  T& at(size_t row, size_t k) const {
    return numbers[static_cast<int64_t>(row) * row_length + static_cast<int64_t>(k)];
  }
};

/// The buffers in which several rows are transformed together: element k of all rows is followed by
/// element k + 1 of all rows. The buffers have room for one more element per row than the transform
/// needs.
struct TransformBuffer {
  TransformBuffer(const FourierTransform& transform, double* memory, size_t count)
      : lanes(transform.lanes()), re(memory), im(memory + (transform.width() + 1) * lanes) {
    if (count < lanes || transform.width() > transform.size())
      std::fill(re, im + transform.width() * lanes, 0.0);
  }
  static size_t size(const FourierTransform& transform) {
    return 2 * (transform.width() + 1) * transform.lanes();
  }
  size_t lanes;
  double *re, *im;
};

/// Whether the vectorized loops can copy these rows: they must be float32, and there must be as
/// many rows as a vector has lanes.
template <class T>
bool fills_lanes(const FourierTransform& transform, size_t count) {
  return std::is_same_v<T, float> && transform.lanes() == kLanes && count == kLanes;
}

/// Copies the first `n` elements of `count` rows to the buffer `to`: element k to index indices[k],
/// or to k if `indices` is null. It is called separately for real and imaginary parts, since rows
/// whose length is a power of two would compete for the same cache sets.
template <class T>
void load_rows(const FourierTransform& transform, RowView<const T> x, size_t n,
               const size_t* indices, double* to, size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    if (fills_lanes<T>(transform, count))
      return interleave_rows(x.numbers, x.row_length, n, indices, to);
  }
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < count; ++i)
      to[(indices ? indices[k] : k) * transform.lanes() + i] = static_cast<double>(x.at(i, k));
}
/// Copies the elements of rows at even indices to w.re, and those at odd indices to w.im.
template <class T>
void load_even_odd(const FourierTransform& transform, RowView<const T> x,
                   const TransformBuffer& buffer, size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    if (fills_lanes<T>(transform, count))
      return interleave_pairs(x.numbers, x.row_length, transform.size(), transform.indices(),
                              buffer.re, buffer.im);
  }
  for (size_t k = 0; k < transform.size(); ++k) {
    const size_t offset = transform.index_of(k) * buffer.lanes;
    for (size_t i = 0; i < count; ++i) {
      buffer.re[offset + i] = static_cast<double>(x.at(i, 2 * k));
      buffer.im[offset + i] = static_cast<double>(x.at(i, 2 * k + 1));
    }
  }
}
/// Copies results from the buffer `from` to the rows, as many elements as a row has.
template <class T>
void store_rows(const FourierTransform& transform, const double* from, RowView<T> to,
                size_t count) {
  const auto n = static_cast<size_t>(to.row_length);
  if constexpr (std::is_same_v<T, float>) {
    if (fills_lanes<T>(transform, count)) return split_rows(from, n, to.numbers, n);
  }
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < count; ++i)
      to.at(i, k) = static_cast<T>(from[k * transform.lanes() + i]);
}

template <class T>
void store_even_odd(const FourierTransform& transform, const TransformBuffer& buffer, RowView<T> to,
                    size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    if (fills_lanes<T>(transform, count))
      return split_pairs(buffer.re, buffer.im, transform.size(), to.numbers, to.row_length);
  }
  for (size_t k = 0; k < transform.size(); ++k)
    for (size_t i = 0; i < count; ++i) {
      to.at(i, 2 * k) = static_cast<T>(buffer.re[k * buffer.lanes + i]);
      to.at(i, 2 * k + 1) = static_cast<T>(buffer.im[k * buffer.lanes + i]);
    }
}

/// Transforms `count` rows of complex numbers.
template <class T>
void transform_rows(const FourierTransform& transform, RowView<const T> re, RowView<const T> im,
                    RowView<T> to_re, RowView<T> to_im, size_t count, double* memory) {
  const TransformBuffer buffer(transform, memory, count);
  load_rows(transform, re, transform.size(), transform.indices(), buffer.re, count);
  load_rows(transform, im, transform.size(), transform.indices(), buffer.im, count);
  transform.run(buffer.re, buffer.im);
  store_rows(transform, buffer.re, to_re, count);
  store_rows(transform, buffer.im, to_im, count);
}

/// Transforms `count` rows of real numbers, whose length is even, as complex rows of half the
/// length.
template <class T>
void transform_real_rows(const FourierTransform& transform, const ComplexTable& twiddles,
                         RowView<const T> x, RowView<T> to_re, RowView<T> to_im, size_t count,
                         double* memory) {
  const TransformBuffer buffer(transform, memory, count);
  load_even_odd(transform, x, buffer, count);
  transform.run(buffer.re, buffer.im);
  unfold_real(buffer.re, buffer.im, transform.size(), twiddles, buffer.lanes);
  store_rows(transform, buffer.re, to_re, count);
  store_rows(transform, buffer.im, to_im, count);
}

/// The inverse of transform_real_rows(): from the first half of the spectrum to real rows of even
/// length.
template <class T>
void transform_back_rows(const FourierTransform& transform, const ComplexTable& twiddles,
                         RowView<const T> re, RowView<const T> im, RowView<T> to, size_t count,
                         double* memory) {
  const TransformBuffer buffer(transform, memory, count),
      spectrum(transform, memory + TransformBuffer::size(transform), count);
  const size_t half_length = transform.size();
  load_rows(transform, re, half_length + 1, nullptr, spectrum.re, count);
  load_rows(transform, im, half_length + 1, nullptr, spectrum.im, count);
  fold_real(spectrum.re, spectrum.im, twiddles, 0.5 / static_cast<double>(half_length), transform,
            buffer.re, buffer.im);
  transform.run(buffer.re, buffer.im);
  store_even_odd(transform, buffer, to, count);
}

/// The types of a transform's input and result: complex to complex, real numbers to half of the
/// spectrum, or half of the spectrum to real numbers.
enum class TransformKind { complex, real_to_half, half_to_real };

/// Transforms rows of equal length, which are divided into groups for the threads.
class RowsTransform {
 public:
  RowsTransform() = default;
  RowsTransform(int64_t rows, int64_t n, int sign, TransformKind kind)
      : rows_(rows), row_length_(n), kind_(kind) {
    const auto length = static_cast<size_t>(kind == TransformKind::complex ? n : n / 2);
    transform_ = FourierTransform(length, sign);
    if (kind == TransformKind::complex) return;
    for (size_t k = 0; k <= length; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      twiddles_.re.push_back(std::cos(angle)), twiddles_.im.push_back(std::sin(angle));
    }
  }
  bool reads_pairs() const { return kind_ != TransformKind::real_to_half; }
  bool writes_pairs() const { return kind_ != TransformKind::half_to_real; }
  int64_t group_size() const { return static_cast<int64_t>(transform_.lanes()); }
  int64_t group_count() const { return (rows_ + group_size() - 1) / group_size(); }
  /// The number of doubles of scratch memory for transforming a group of rows.
  size_t work_size() const { return (writes_pairs() ? 1 : 2) * TransformBuffer::size(transform_); }
  double flops() const {
    const auto n = static_cast<double>(row_length_);
    return 5 * static_cast<double>(rows_) * n * std::log2(std::max(n, 2.0)) /
           (kind_ == TransformKind::complex ? 1 : 2);
  }
  /// Transforms the rows of group `group_index`. `im` is null if the input is real, and `to_im` is
  /// null if the result is real.
  template <class T>
  void run(int64_t group_index, const T* re, const T* im, T* to_re, T* to_im, double* work) const {
    const int64_t first_row = group_index * group_size(), half_length = row_length_ / 2 + 1;
    const int64_t input_length = writes_pairs() ? row_length_ : half_length,
                  output_length = kind_ == TransformKind::real_to_half ? half_length : row_length_;
    const auto count = static_cast<size_t>(std::min(group_size(), rows_ - first_row));
    const RowView<const T> x{re + first_row * input_length, input_length};
    const RowView<T> to_x{to_re + first_row * output_length, output_length};
    switch (kind_) {
      case TransformKind::complex:
        return transform_rows<T>(transform_, x, {im + first_row * input_length, input_length}, to_x,
                                 {to_im + first_row * output_length, output_length}, count, work);
      case TransformKind::real_to_half:
        return transform_real_rows<T>(transform_, twiddles_, x, to_x,
                                      {to_im + first_row * output_length, output_length}, count,
                                      work);
      case TransformKind::half_to_real:
        return transform_back_rows<T>(transform_, twiddles_, x,
                                      {im + first_row * input_length, input_length}, to_x, count,
                                      work);
    }
  }

 private:
  int64_t rows_ = 0, row_length_ = 0;
  TransformKind kind_ = TransformKind::complex;
  FourierTransform transform_;
  ComplexTable twiddles_;
};

int64_t rows_in(const Shape& shape) { return shape.size() / shape[-1]; }

class FourierKernel final : public CpuKernel {
 public:
  static void describe(Schema<FourierKernel>& s) {
    s.doc("Runs on several threads, each with some rows.");
  }
  bool prepare(const CpuRequest& r) override {
    const TensorSpec& x = r.inputs[0];
    if (x.shape.size() == 0) return false;
    const auto* fourier_op = r.op_as<Fourier>();
    const bool gives_real = r.op_as<RealOfFourier>() != nullptr;
    const int64_t n = gives_real ? r.outputs[0].shape[-1] : x.shape[-1];
    rows_ = RowsTransform(rows_in(x.shape), n,
                          fourier_op   ? fourier_op->sign
                          : gives_real ? 1
                                       : -1,
                          fourier_op   ? TransformKind::complex
                          : gives_real ? TransformKind::half_to_real
                                       : TransformKind::real_to_half);
    is_float64_ = x.dtype == DType::float64;
    constexpr size_t kMaxMemory = size_t{64} << 20;
    const auto max_workers =
        static_cast<int64_t>(kMaxMemory / (rows_.work_size() * sizeof(double)));
    workers_ = static_cast<int>(
        std::clamp<int64_t>(max_workers, 1, std::min<int64_t>(rows_.group_count(), 32)));
    return true;
  }
  void run(const CpuArguments& a) override { is_float64_ ? run_as<double>(a) : run_as<float>(a); }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(workers_) * rows_.work_size() * sizeof(double);
  }
  double flops() const override { return rows_.flops(); }

 private:
  template <class T>
  void run_as(const CpuArguments& a) const {
    struct Job {
      const FourierKernel* kernel;
      const CpuArguments* a;
      const T* im;
      T* to_im;
    } job{this, &a, a.in<T>(rows_.reads_pairs() ? 1 : 0), a.out<T>(rows_.writes_pairs() ? 1 : 0)};
    a.threads.run(
        rows_.group_count(),
        [](void* context, int64_t part, int worker) {
          const Job& current_job = *static_cast<Job*>(context);
          const RowsTransform& rows = current_job.kernel->rows_;
          rows.run(part, current_job.a->template in<T>(0), current_job.im,
                   current_job.a->template out<T>(0), current_job.to_im,
                   reinterpret_cast<double*>(current_job.a->scratch) +
                       static_cast<size_t>(worker) * rows.work_size());
        },
        &job, workers_);
  }

  RowsTransform rows_;
  bool is_float64_ = false;
  int workers_ = 1;
};

}  // namespace

CRESCENT_REGISTER(fourier_kernels) {
  registry.add<FourierKernel>(RealOfFourier::kName);
  registry.add<FourierKernel>(Fourier::kName);
  registry.add<FourierKernel>(RealFourier::kName);
}

}  // namespace crescent::operations
