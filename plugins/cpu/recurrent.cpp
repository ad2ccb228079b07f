// LSTM and GRU over whole sequences: one product for the inputs of all steps; then every part of the batch goes through
// time on its own, without barriers; at the end one product for each gradient of the weights. Parts have a fixed number
// of rows, so the bits do not depend on the number of threads.
#include "recurrent.h"

#include <algorithm>

#include "blas.h"
#include "converted.h"
#include "matmul.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kPartRows = 8;

/// A product of dense matrices inside a larger kernel, by the best matmul kernel there is.
class InnerProduct {
 public:
  InnerProduct(const Request& r, const Shape& a, const Shape& b, const Shape& c, bool transpose_a, bool transpose_b,
               bool bias = false) {
    Matmul op;
    op.transpose_a = transpose_a, op.transpose_b = transpose_b, op.bias = bias;
    const DType dtype = r.inputs[0].dtype;
    const TensorSpec inputs[] = {{dtype, a}, {dtype, b}, {dtype, {c[-1]}}}, output{dtype, c};
    for (const auto& row : matmul_kernels()) {
      kernel_ = row.make({op, std::span(inputs, bias ? 3 : 2), {&output, 1}, r.options});
      if (kernel_) break;
    }
  }
  size_t scratch_bytes() const { return kernel_->scratch_bytes(); }
  template <class T>
  void run(const Arguments& outer, std::byte* scratch, const T* a, const T* b, T* c, const T* bias = nullptr) const {
    const std::byte* inputs[] = {bytes(a), bytes(b), bytes(bias)};
    std::byte* output = reinterpret_cast<std::byte*>(c);
    kernel_->run({inputs, &output, scratch, outer.pool});
  }

 private:
  template <class T>
  static const std::byte* bytes(const T* p) { return reinterpret_cast<const std::byte*>(p); }

  std::unique_ptr<Kernel> kernel_;
};

/// Sizes of a request whose input 0 is x (batch, steps, features) and whose h0 is (batch, units).
template <class T>
class Recurrent : public Kernel {
 public:
  Recurrent(const Request& r, int64_t gates)
      : batch_(r.inputs[0].shape[0]), steps_(r.inputs[0].shape[1]), features_(r.inputs[0].shape[2]),
        units_(r.inputs[1].shape[1]), width_(gates * units_), parts_((batch_ + kPartRows - 1) / kPartRows),
        loops_(recurrent_loops<T>()), gemm_(gemm<T>(r.options)), gemm_name_(gemm_name<T>(r.options)) {}

  std::string name() const override { return std::string("recurrent, ") + gemm_name_; }
  size_t scratch_bytes() const override { return values_ * sizeof(T); }
  double flops() const override {
    return 2.0 * static_cast<double>(rows()) * static_cast<double>(features_ + units_) * static_cast<double>(width_);
  }

 protected:
  int64_t rows() const { return batch_ * steps_; }
  /// Row (sample, step) of a tensor (batch, steps, width).
  int64_t at(int64_t sample, int64_t step, int64_t width) const { return (sample * steps_ + step) * width; }

  /// Where `count` values of scratch memory begin.
  size_t reserve(int64_t count) {
    const size_t at = values_;
    values_ += (static_cast<size_t>(count) + 15) / 16 * 16;
    return at;
  }
  size_t reserve(const InnerProduct& p) { return reserve(static_cast<int64_t>(p.scratch_bytes() / sizeof(T) + 1)); }
  T* scratch(const Arguments& a, size_t at) const { return reinterpret_cast<T*>(a.scratch) + at; }

  /// f(first sample, samples, part) for all parts of the batch.
  template <class F>
  void each_part(const Arguments& a, F&& f) const {
    a.pool.parallel(parts_, [&](int64_t part, int) {
      const int64_t first = part * kPartRows;
      f(first, std::min(kPartRows, batch_ - first), part);
    });
  }

  /// c (samples, width_) = h before `step` of samples [first..) times the recurrent weights, plus beta c.
  void recur(const T* h0, const T* hs, const T* weights, int64_t first, int64_t samples, int64_t step, T beta, T* c,
             int64_t ldc) const {
    Product<T> p{false, false, samples, width_, units_};
    p.a = step ? hs + at(first, step - 1, units_) : h0 + first * units_, p.lda = step ? steps_ * units_ : units_;
    p.b = weights, p.ldb = width_, p.beta = beta, p.c = c, p.ldc = ldc;
    gemm_(p);
  }
  /// dh (samples, units) = dgates of `step` times the transposed recurrent weights, plus beta dh.
  void recur_back(const T* dgates, const T* weights, int64_t first, int64_t samples, int64_t step, T beta, T* dh) const {
    Product<T> p{false, true, samples, units_, width_};
    p.a = dgates + at(first, step, width_), p.lda = steps_ * width_, p.b = weights, p.ldb = width_;
    p.beta = beta, p.c = dh + first * units_, p.ldc = units_;
    gemm_(p);
  }
  const T* before(const T* state0, const T* states, int64_t sample, int64_t step) const {
    return step ? states + at(sample, step - 1, units_) : state0 + sample * units_;
  }
  void copy_last(const T* state0, const T* states, int64_t first, int64_t samples, T* last) const {
    for (int64_t i = first; i < first + samples; ++i) std::copy_n(before(state0, states, i, steps_), units_, last + i * units_);
  }
  int64_t batch_, steps_, features_, units_, width_, parts_;
  RecurrentLoops<T> loops_;
  Gemm<T> gemm_;
  const char* gemm_name_;

 private:
  size_t values_ = 0;
};

/// What both gradients share: the products after the loop over time, and sums of bias gradients by part.
template <class T>
class RecurrentGradient : public Recurrent<T> {
 public:
  /// `biases`: values of the bias.
  RecurrentGradient(const Request& r, int64_t gates, int64_t biases)
      : Recurrent<T>(r, gates), biases_(biases),
        dx_product_(r, {this->rows(), this->width_}, {this->features_, this->width_}, {this->rows(), this->features_},
                    false, true),
        dkernel_product_(r, {this->rows(), this->features_}, {this->rows(), this->width_},
                         {this->features_, this->width_}, true, false),
        drecurrent_product_(r, {this->rows(), this->units_}, {this->rows(), this->width_}, {this->units_, this->width_},
                            true, false) {
    h_before_ = this->reserve(this->rows() * this->units_), dbias_ = this->reserve(this->parts_ * biases);
    dx_scratch_ = this->reserve(dx_product_), dkernel_scratch_ = this->reserve(dkernel_product_);
    drecurrent_scratch_ = this->reserve(drecurrent_product_);
  }
  double flops() const override { return 2 * Recurrent<T>::flops(); }

 protected:
  void keep_h_before(const Arguments& a, const T* h0, const T* hs, int64_t sample, int64_t step) const {
    std::copy_n(this->before(h0, hs, sample, step), this->units_,
                this->scratch(a, h_before_) + this->at(sample, step, this->units_));
  }
  T* dbias_part(const Arguments& a, int64_t part) const { return this->scratch(a, dbias_) + part * biases_; }
  void clear_dbias(const Arguments& a, int64_t part) const { std::fill_n(dbias_part(a, part), biases_, T{0}); }

  void finish_gradients(const Arguments& a, const T* x, const T* kernel, const T* dx_gates, const T* dh_gates, T* dx,
                        T* dkernel, T* drecurrent, T* dbias) const {
    auto bytes = [&](size_t at) { return reinterpret_cast<std::byte*>(this->scratch(a, at)); };
    dx_product_.run(a, bytes(dx_scratch_), dx_gates, kernel, dx);
    dkernel_product_.run(a, bytes(dkernel_scratch_), x, dx_gates, dkernel);
    drecurrent_product_.run(a, bytes(drecurrent_scratch_), static_cast<const T*>(this->scratch(a, h_before_)), dh_gates,
                            drecurrent);
    std::fill_n(dbias, biases_, T{0});
    for (int64_t part = 0; part < this->parts_; ++part) accumulate(dbias, dbias_part(a, part), biases_);
  }

 private:
  int64_t biases_;
  InnerProduct dx_product_, dkernel_product_, drecurrent_product_;
  size_t h_before_ = 0, dbias_ = 0, dx_scratch_ = 0, dkernel_scratch_ = 0, drecurrent_scratch_ = 0;
};

// inputs: x, h0, c0, kernel, recurrent, bias; outputs: hs, last h, last c, gates, cells
template <class T>
class LstmForward final : public Recurrent<T> {
 public:
  explicit LstmForward(const Request& r)
      : Recurrent<T>(r, 4), input_(r, {this->rows(), this->features_}, {this->features_, this->width_},
                                   {this->rows(), this->width_}, false, false, true) {
    input_scratch_ = this->reserve(input_);
  }

  void run(const Arguments& a) override {
    T *hs = a.out<T>(0), *gates = a.out<T>(3), *cells = a.out<T>(4);
    input_.run(a, reinterpret_cast<std::byte*>(this->scratch(a, input_scratch_)), a.in<T>(0), a.in<T>(3), gates,
               a.in<T>(5));
    this->each_part(a, [&](int64_t first, int64_t samples, int64_t) {
      const int64_t units = this->units_, width = this->width_;
      for (int64_t t = 0; t < this->steps_; ++t) {
        this->recur(a.in<T>(1), hs, a.in<T>(4), first, samples, t, 1, gates + this->at(first, t, width),
                    this->steps_ * width);
        for (int64_t i = first; i < first + samples; ++i) {
          this->loops_.lstm(units, gates + this->at(i, t, width), this->before(a.in<T>(2), cells, i, t),
                            cells + this->at(i, t, units), hs + this->at(i, t, units));
        }
      }
      this->copy_last(a.in<T>(1), hs, first, samples, a.out<T>(1));
      this->copy_last(a.in<T>(2), cells, first, samples, a.out<T>(2));
    });
  }

 private:
  InnerProduct input_;
  size_t input_scratch_;
};

// inputs: x, h0, c0, kernel, recurrent, hs, gates, cells, dhs, dlast_h, dlast_c
// outputs: dx, dh0, dc0, dkernel, drecurrent, dbias
template <class T>
class LstmGradient final : public RecurrentGradient<T> {
 public:
  explicit LstmGradient(const Request& r) : RecurrentGradient<T>(r, 4, 4 * r.inputs[1].shape[1]) {
    dgates_ = this->reserve(this->rows() * this->width_);
  }

  void run(const Arguments& a) override {
    T* dgates = this->scratch(a, dgates_);
    this->each_part(a, [&](int64_t first, int64_t samples, int64_t part) {
      this->clear_dbias(a, part);
      std::copy_n(a.in<T>(9) + first * this->units_, samples * this->units_, a.out<T>(1) + first * this->units_);
      std::copy_n(a.in<T>(10) + first * this->units_, samples * this->units_, a.out<T>(2) + first * this->units_);
      for (int64_t t = this->steps_ - 1; t >= 0; --t) {
        for (int64_t i = first; i < first + samples; ++i) step(a, dgates, i, t, part);
        this->recur_back(dgates, a.in<T>(4), first, samples, t, 0, a.out<T>(1));
      }
    });
    this->finish_gradients(a, a.in<T>(0), a.in<T>(3), dgates, dgates, a.out<T>(0), a.out<T>(3), a.out<T>(4),
                           a.out<T>(5));
  }

 private:
  /// dh0 and dc0 hold dh and dc of the step at hand.
  void step(const Arguments& a, T* dgates, int64_t i, int64_t t, int64_t part) const {
    const int64_t units = this->units_, row = this->at(i, t, units), wide = this->at(i, t, this->width_);
    T *dh = a.out<T>(1) + i * units, *dc = a.out<T>(2) + i * units;
    accumulate(dh, a.in<T>(8) + row, units);
    this->loops_.lstm_gradient(units, a.in<T>(6) + wide, this->before(a.in<T>(2), a.in<T>(7), i, t), a.in<T>(7) + row,
                               dh, dc, dgates + wide, this->dbias_part(a, part));
    this->keep_h_before(a, a.in<T>(1), a.in<T>(5), i, t);
  }

  size_t dgates_ = 0;
};

// inputs: x, h0, kernel, recurrent, bias; outputs: hs, last h, gates
template <class T>
class GruForward final : public Recurrent<T> {
 public:
  explicit GruForward(const Request& r)
      : Recurrent<T>(r, 3), input_(r, {this->rows(), this->features_}, {this->features_, this->width_},
                                   {this->rows(), this->width_}, false, false, true) {
    input_scratch_ = this->reserve(input_), x_parts_ = this->reserve(this->rows() * this->width_);
    h_parts_ = this->reserve(this->batch_ * this->width_);
  }

  void run(const Arguments& a) override {
    T *hs = a.out<T>(0), *x_parts = this->scratch(a, x_parts_), *h_parts = this->scratch(a, h_parts_);
    const int64_t units = this->units_, width = this->width_;
    input_.run(a, reinterpret_cast<std::byte*>(this->scratch(a, input_scratch_)), a.in<T>(0), a.in<T>(2), x_parts,
               a.in<T>(4));
    this->each_part(a, [&](int64_t first, int64_t samples, int64_t) {
      for (int64_t t = 0; t < this->steps_; ++t) {
        T* h_part = h_parts + first * width;
        for (int64_t i = 0; i < samples; ++i) std::copy_n(a.in<T>(4) + width, width, h_part + i * width);
        this->recur(a.in<T>(1), hs, a.in<T>(3), first, samples, t, 1, h_part, width);
        for (int64_t i = first; i < first + samples; ++i) {
          this->loops_.gru(units, x_parts + this->at(i, t, width), h_parts + i * width,
                           this->before(a.in<T>(1), hs, i, t), a.out<T>(2) + this->at(i, t, 4 * units),
                           hs + this->at(i, t, units));
        }
      }
      this->copy_last(a.in<T>(1), hs, first, samples, a.out<T>(1));
    });
  }

 private:
  InnerProduct input_;
  size_t input_scratch_, x_parts_, h_parts_;
};

// inputs: x, h0, kernel, recurrent, bias, hs, gates, dhs, dlast_h; outputs: dx, dh0, dkernel, drecurrent, dbias
template <class T>
class GruGradient final : public RecurrentGradient<T> {
 public:
  explicit GruGradient(const Request& r) : RecurrentGradient<T>(r, 3, 6 * r.inputs[1].shape[1]) {
    dx_parts_ = this->reserve(this->rows() * this->width_), dh_parts_ = this->reserve(this->rows() * this->width_);
  }

  void run(const Arguments& a) override {
    T *dx_parts = this->scratch(a, dx_parts_), *dh_parts = this->scratch(a, dh_parts_);
    this->each_part(a, [&](int64_t first, int64_t samples, int64_t part) {
      this->clear_dbias(a, part);
      std::copy_n(a.in<T>(8) + first * this->units_, samples * this->units_, a.out<T>(1) + first * this->units_);
      for (int64_t t = this->steps_ - 1; t >= 0; --t) {
        for (int64_t i = first; i < first + samples; ++i) step(a, dx_parts, dh_parts, i, t, part);
        this->recur_back(dh_parts, a.in<T>(3), first, samples, t, 1, a.out<T>(1));
      }
    });
    this->finish_gradients(a, a.in<T>(0), a.in<T>(2), dx_parts, dh_parts, a.out<T>(0), a.out<T>(2), a.out<T>(3),
                           a.out<T>(4));
  }

 private:
  /// dh0 holds dh of the step at hand.
  void step(const Arguments& a, T* dx_parts, T* dh_parts, int64_t i, int64_t t, int64_t part) const {
    const int64_t units = this->units_, wide = this->at(i, t, this->width_);
    T* dh = a.out<T>(1) + i * units;
    accumulate(dh, a.in<T>(7) + this->at(i, t, units), units);
    this->loops_.gru_gradient(units, a.in<T>(6) + this->at(i, t, 4 * units), this->before(a.in<T>(1), a.in<T>(5), i, t),
                              dh, dx_parts + wide, dh_parts + wide, this->dbias_part(a, part));
    this->keep_h_before(a, a.in<T>(1), a.in<T>(5), i, t);
  }

  size_t dx_parts_ = 0, dh_parts_ = 0;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Request& r) {
  const DType dtype = r.inputs[0].dtype;
  for (const auto& spec : r.inputs) {
    if (spec.dtype != dtype || !fits_blas(spec.shape.size())) return nullptr;
  }
  switch (dtype) {
    case DType::float32: return std::make_unique<K<float>>(r);
    case DType::float64: return std::make_unique<K<double>>(r);
    default: return nullptr;
  }
}

}  // namespace

std::span<const KernelRow> recurrent_kernels() {
  static constexpr KernelFactory kHalf = make_converted<recurrent_kernels>;
  static constexpr KernelRow kRows[] = {{"lstm", make<LstmForward>},
                                        {"lstm", kHalf},
                                        {"lstm_backward", make<LstmGradient>},
                                        {"lstm_backward", kHalf},
                                        {"gru", make<GruForward>},
                                        {"gru", kHalf},
                                        {"gru_backward", make<GruGradient>},
                                        {"gru_backward", kHalf}};
  return kRows;
}

}  // namespace crescent::cpu
