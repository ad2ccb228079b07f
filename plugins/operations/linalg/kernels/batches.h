// Kernels that process each matrix of a batch in float64, on several threads. A `Loop` is
// constructed from the op. Its function work_size(shape of a) returns the number of doubles of
// scratch memory; compute_one(MatrixParts, scratch memory) computes the results of one matrix.
#pragma once
#include <algorithm>
#include <array>
#include <optional>

#include "crescent/device/cpu_kernel.h"

namespace crescent::operations {

/// A row-major view of one matrix.
struct Matrix {
  double* values;
  int64_t rows, columns;
  double& operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

inline void copy(const Matrix& from, const Matrix& to) {
  std::copy_n(from.values, from.rows * from.columns, to.values);
}

/// One matrix of each input and of each output, for one index of the batch.
struct MatrixParts {
  std::array<Matrix, 2> in;   ///< the matrices of inputs, which must not be written to
  std::array<Matrix, 4> out;  ///< an output of another dtype is accessed by as<int32_t>(index)
  template <class T>
  T* as(size_t i) const {
    return reinterpret_cast<T*>(out[i].values);
  }
};

/// The positions of the matrices of one operand in memory.
class MatrixBatch {
 public:
  MatrixBatch() = default;
  MatrixBatch(std::span<const TensorSpec> in, std::span<const TensorSpec> out) {
    const Shape& a = in[0].shape;
    batch_axes_ = a.rank() - 2;
    count_ = a.slice(0, batch_axes_).size();
    rows_ = a[-2], columns_ = a[-1];
    for (const TensorSpec& spec : in) input_operands_[input_count_++] = operand(spec);
    for (const TensorSpec& spec : out) output_operands_[output_count_++] = operand(spec);
  }
  int64_t count() const { return count_; }
  /// The approximate number of operations per matrix.
  double flops() const {
    return static_cast<double>(rows_) * static_cast<double>(columns_) *
           static_cast<double>(std::min(rows_, columns_));
  }
  MatrixParts parts(const std::byte* const* in, std::byte* const* out, int64_t i) const {
    MatrixParts parts{};
    for (size_t k = 0; k < input_count_; ++k)
      parts.in[k] = matrix_at(input_operands_[k], const_cast<std::byte*>(in[k]), i);
    for (size_t k = 0; k < output_count_; ++k)
      parts.out[k] = matrix_at(output_operands_[k], out[k], i);
    return parts;
  }

 private:
  struct Operand {
    int64_t rows = 0, columns = 0;
    size_t bytes = 0;  ///< bytes per matrix
  };
  Operand operand(const TensorSpec& spec) const {
    const Shape matrix_shape = spec.shape.slice(batch_axes_, spec.shape.rank());
    const int64_t columns = matrix_shape.rank() > 0 ? matrix_shape[-1] : 1,
                  rows = matrix_shape.rank() > 1 ? matrix_shape[-2] : 1;
    return {rows, columns, static_cast<size_t>(matrix_shape.size()) * size_of(spec.dtype)};
  }
  static Matrix matrix_at(const Operand& operand, std::byte* batch_start, int64_t i) {
    return {reinterpret_cast<double*>(batch_start + static_cast<size_t>(i) * operand.bytes),
            operand.rows, operand.columns};
  }
  int batch_axes_ = 0;
  int64_t count_ = 0, rows_ = 0, columns_ = 0;
  size_t input_count_ = 0, output_count_ = 0;
  std::array<Operand, 2> input_operands_;
  std::array<Operand, 4> output_operands_;
};

template <class Op, class Loop>
class MatricesKernel : public CpuKernel {
 public:
  static void describe(Schema<MatricesKernel>& s) {
    s.doc("Runs on several threads, each with some matrices.");
  }
  bool prepare(const CpuRequest& r) override {
    if (r.inputs[0].dtype != DType::float64) return false;
    batch_ = MatrixBatch(r.inputs, r.outputs);
    loop_.emplace(*r.op_as<Op>());
    work_size_ = loop_->work_size(r.inputs[0].shape);
    constexpr double kMinTaskOperations = 20000;  ///< fewest operations per task
    grain_ = std::max<int64_t>(
        1, static_cast<int64_t>(kMinTaskOperations / std::max(batch_.flops(), 1.0)));
    return true;
  }
  void run(const CpuArguments& a) override {
    auto* work = reinterpret_cast<double*>(a.scratch);
    a.threads.run(
        parts(),
        [](void* context, int64_t part, int worker) {
          auto [self, arguments, memory] = *static_cast<Job*>(context);
          self->run_part(*arguments, part, memory + worker * self->work_size_);
        },
        std::array{Job{this, &a, work}}.data(), workers());
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(workers() * work_size_) * sizeof(double);
  }
  double flops() const override { return static_cast<double>(batch_.count()) * batch_.flops(); }

 private:
  struct Job {
    const MatricesKernel* kernel;
    const CpuArguments* arguments;
    double* work;
  };
  int64_t parts() const { return (batch_.count() + grain_ - 1) / grain_; }
  int workers() const { return static_cast<int>(std::clamp<int64_t>(parts(), 1, 32)); }
  void run_part(const CpuArguments& a, int64_t part, double* work) const {
    const int64_t end = std::min((part + 1) * grain_, batch_.count());
    for (int64_t i = part * grain_; i < end; ++i)
      loop_->compute_one(batch_.parts(a.inputs, a.outputs, i), work);
  }
  std::optional<Loop> loop_;
  MatrixBatch batch_;
  int64_t work_size_ = 0, grain_ = 1;
};

}  // namespace crescent::operations
