// LSTM and GRU over whole sequences: one product for the inputs of all steps; then every part of the batch goes through
// time on its own, without barriers; at the end one product for each gradient of the weights. The recurrent weights are
// packed once a run. A batch of one part is cut by units instead, which takes a region a step. Parts depend on the shapes
// alone, so the bits do not depend on the number of threads.
#include "recurrent.h"

#include <algorithm>

#include "blas.h"
#include "converted.h"
#include "matmul.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kPartRows = 16;
constexpr int64_t kPartUnits = 64;           // of a step that is cut by units

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
        units_(r.inputs[1].shape[1]), gates_(gates), width_(gates * units_),
        parts_((batch_ + kPartRows - 1) / kPartRows), loops_(recurrent_loops<T>()) {
    packed_ = reserve(padded_units() * width_);
  }

  std::string name() const override { return "recurrent, highway"; }
  size_t scratch_bytes() const override { return values_ * sizeof(T); }
  double flops() const override {
    return 2.0 * static_cast<double>(rows()) * static_cast<double>(features_ + units_) * static_cast<double>(width_);
  }

 protected:
  int64_t rows() const { return batch_ * steps_; }
  int64_t panels() const { return (units_ + loops_.lanes - 1) / loops_.lanes; }
  int64_t padded_units() const { return panels() * loops_.lanes; }
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
  T* packed(const Arguments& a) const { return scratch(a, packed_); }

  /// f(first sample, samples, part) for all parts of the batch.
  template <class F>
  void each_part(const Arguments& a, F&& f) const {
    a.pool.parallel(parts_, [&](int64_t part, int) {
      const int64_t first = batch_ * part / parts_;
      f(first, batch_ * (part + 1) / parts_ - first, part);
    });
  }

  const T* before(const T* state0, const T* states, int64_t sample, int64_t step) const {
    return step ? states + at(sample, step - 1, units_) : state0 + sample * units_;
  }

  int64_t batch_, steps_, features_, units_, gates_, width_, parts_;
  RecurrentLoops<T> loops_;

 private:
  size_t values_ = 0, packed_;
};

/// The steps of a forward pass; `loop` computes one.
template <class T>
class RecurrentForward : public Recurrent<T> {
 public:
  RecurrentForward(const Request& r, int64_t gates)
      : Recurrent<T>(r, gates), input_(r, {this->rows(), this->features_}, {this->features_, this->width_},
                                       {this->rows(), this->width_}, false, false, true) {
    input_scratch_ = this->reserve(input_), other_h_ = this->reserve(this->batch_ * this->units_);
  }

 protected:
  using Loop = void (*)(const RecurrentStep<T>&);
  /// What the steps of a run have in common: pointers are those of the first sample and step.
  struct Run {
    const T *x, *kernel, *input_bias, *recurrent, *h0;
    T *x_parts, *last_h;
    RecurrentStep<T> step;
  };

  void run_steps(const Arguments& a, Loop loop, Run run) const {
    input_.run(a, reinterpret_cast<std::byte*>(this->scratch(a, input_scratch_)), run.x, run.kernel, run.x_parts,
               run.input_bias);
    a.pool.parallel(this->panels(), [&](int64_t panel, int) {
      this->loops_.pack(this->units_, this->gates_, run.recurrent, panel, this->packed(a));
    });
    run.step.units = this->units_, run.step.weights = this->packed(a);
    run.step.x_stride = this->steps_ * this->width_, run.step.state_stride = this->steps_ * this->units_;
    run.step.gates_stride = this->steps_ * 4 * this->units_;
    if (this->parts_ > 1) {
      this->each_part(a, [&](int64_t first, int64_t samples, int64_t) {
        start(a, run, first, samples);
        for (int64_t t = 0; t < this->steps_; ++t) loop(step_at(a, run, first, samples, t, 0, this->panels()));
      });
    } else {
      start(a, run, 0, this->batch_);
      const int64_t panels = std::max<int64_t>(1, kPartUnits / this->loops_.lanes);
      for (int64_t t = 0; t < this->steps_; ++t) {
        a.pool.blocks(this->panels(), panels, [&](int64_t first, int64_t last) {
          loop(step_at(a, run, 0, this->batch_, t, first, last));
        });
      }
    }
  }

 private:
  /// States alternate between two places; the last ones are written where they belong.
  T* h_after(const Arguments& a, const Run& run, int64_t steps_done) const {
    return (this->steps_ - steps_done) % 2 ? this->scratch(a, other_h_) : run.last_h;
  }
  void start(const Arguments& a, const Run& run, int64_t first, int64_t samples) const {
    std::copy_n(run.h0 + first * this->units_, samples * this->units_, h_after(a, run, 0) + first * this->units_);
  }
  RecurrentStep<T> step_at(const Arguments& a, const Run& run, int64_t first, int64_t samples, int64_t t,
                           int64_t first_panel, int64_t last_panel) const {
    RecurrentStep<T> s = run.step;
    const int64_t units = this->units_, state = this->at(first, t, units);
    s.samples = samples, s.first_panel = first_panel, s.last_panel = last_panel;
    s.h_before = h_after(a, run, t) + first * units, s.h = h_after(a, run, t + 1) + first * units;
    s.x_part = run.x_parts + this->at(first, t, this->width_);
    s.gates += 4 * state, s.hs += state;
    if (s.c) s.c += first * units, s.cells += state;
    return s;
  }

  InnerProduct input_;
  size_t input_scratch_, other_h_;
};

/// What both gradients share: the products with the recurrent weights in every step and those after the loop over time,
/// and sums of bias gradients by part.
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
    dh_ = this->reserve(this->batch_ * this->padded_units()), dgates_ = this->reserve(this->batch_ * this->width_);
    dx_scratch_ = this->reserve(dx_product_), dkernel_scratch_ = this->reserve(dkernel_product_);
    drecurrent_scratch_ = this->reserve(drecurrent_product_);
  }
  double flops() const override { return 2 * Recurrent<T>::flops(); }

 protected:
  /// What a step works on for one sample.
  struct Row {
    int64_t sample, step;
    T *dh, *dgates, *dbias;      ///< gradient of the state; of the gates of this step (packed closely); of the bias (part)
  };

  /// row(Row) for all samples and steps, from the last step to the first; after each step dh is that of the step before.
  /// `add`: row() leaves a part of that in dh.
  template <class F>
  void run_back(const Arguments& a, const T* recurrent, const T* dlast_h, bool add, T* dh0, F&& row) const {
    const int64_t units = this->units_, padded = this->padded_units(), width = this->width_;
    a.pool.parallel(this->gates_, [&](int64_t gate, int) {
      this->loops_.pack_transposed(units, this->gates_, recurrent, gate, this->packed(a));
    });
    this->each_part(a, [&](int64_t first, int64_t samples, int64_t part) {
      T *dh = this->scratch(a, dh_) + first * padded, *dgates = this->scratch(a, dgates_) + first * width;
      T* dbias = this->scratch(a, dbias_) + part * biases_;
      std::fill_n(dbias, biases_, T{0});
      for (int64_t i = 0; i < samples; ++i) std::copy_n(dlast_h + (first + i) * units, units, dh + i * padded);
      for (int64_t t = this->steps_ - 1; t >= 0; --t) {
        for (int64_t i = 0; i < samples; ++i) row(Row{first + i, t, dh + i * padded, dgates + i * width, dbias});
        this->loops_.multiply_transposed(samples, units, this->gates_, dgates, this->packed(a), add, dh);
      }
      for (int64_t i = 0; i < samples; ++i) std::copy_n(dh + i * padded, units, dh0 + (first + i) * units);
    });
  }

  void keep_h_before(const Arguments& a, const T* h0, const T* hs, int64_t sample, int64_t step) const {
    std::copy_n(this->before(h0, hs, sample, step), this->units_,
                this->scratch(a, h_before_) + this->at(sample, step, this->units_));
  }

  void finish_gradients(const Arguments& a, const T* x, const T* kernel, const T* dx_gates, const T* dh_gates, T* dx,
                        T* dkernel, T* drecurrent, T* dbias) const {
    auto bytes = [&](size_t at) { return reinterpret_cast<std::byte*>(this->scratch(a, at)); };
    dx_product_.run(a, bytes(dx_scratch_), dx_gates, kernel, dx);
    dkernel_product_.run(a, bytes(dkernel_scratch_), x, dx_gates, dkernel);
    drecurrent_product_.run(a, bytes(drecurrent_scratch_), static_cast<const T*>(this->scratch(a, h_before_)), dh_gates,
                            drecurrent);
    std::fill_n(dbias, biases_, T{0});
    for (int64_t part = 0; part < this->parts_; ++part) accumulate(dbias, this->scratch(a, dbias_) + part * biases_, biases_);
  }

 private:
  int64_t biases_;
  InnerProduct dx_product_, dkernel_product_, drecurrent_product_;
  size_t h_before_ = 0, dbias_ = 0, dh_ = 0, dgates_ = 0, dx_scratch_ = 0, dkernel_scratch_ = 0, drecurrent_scratch_ = 0;
};

// inputs: x, h0, c0, kernel, recurrent, bias; outputs: hs, last h, last c, gates, cells
template <class T>
class LstmForward final : public RecurrentForward<T> {
 public:
  explicit LstmForward(const Request& r) : RecurrentForward<T>(r, 4) {}

  void run(const Arguments& a) override {
    T* gates = a.out<T>(3);                // holds the parts of x until a step reads them
    std::copy_n(a.in<T>(2), this->batch_ * this->units_, a.out<T>(2));
    typename RecurrentForward<T>::Run run{a.in<T>(0), a.in<T>(3), a.in<T>(5), a.in<T>(4), a.in<T>(1), gates, a.out<T>(1), {}};
    run.step.c = a.out<T>(2), run.step.gates = gates, run.step.hs = a.out<T>(0), run.step.cells = a.out<T>(4);
    this->run_steps(a, this->loops_.lstm, run);
  }
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
    const int64_t units = this->units_;
    T *dgates = this->scratch(a, dgates_), *dc = a.out<T>(2);      // dc is that of the step at hand
    std::copy_n(a.in<T>(10), this->batch_ * units, dc);
    this->run_back(a, a.in<T>(4), a.in<T>(9), false, a.out<T>(1), [&](const auto& row) {
      const int64_t i = row.sample, t = row.step, state = this->at(i, t, units);
      this->loops_.lstm_gradient(units, a.in<T>(6) + 4 * state, this->before(a.in<T>(2), a.in<T>(7), i, t),
                                 a.in<T>(7) + state, row.dh, a.in<T>(8) + state, dc + i * units, dgates + 4 * state,
                                 row.dgates, row.dbias);
      this->keep_h_before(a, a.in<T>(1), a.in<T>(5), i, t);
    });
    this->finish_gradients(a, a.in<T>(0), a.in<T>(3), dgates, dgates, a.out<T>(0), a.out<T>(3), a.out<T>(4),
                           a.out<T>(5));
  }

 private:
  size_t dgates_;
};

// inputs: x, h0, kernel, recurrent, bias; outputs: hs, last h, gates
template <class T>
class GruForward final : public RecurrentForward<T> {
 public:
  explicit GruForward(const Request& r) : RecurrentForward<T>(r, 3) {
    x_parts_ = this->reserve(this->rows() * this->width_);
  }

  void run(const Arguments& a) override {
    T* x_parts = this->scratch(a, x_parts_);
    typename RecurrentForward<T>::Run run{a.in<T>(0), a.in<T>(2), a.in<T>(4), a.in<T>(3), a.in<T>(1), x_parts, a.out<T>(1), {}};
    run.step.bias = a.in<T>(4) + this->width_, run.step.gates = a.out<T>(2), run.step.hs = a.out<T>(0);
    this->run_steps(a, this->loops_.gru, run);
  }

 private:
  size_t x_parts_;
};

// inputs: x, h0, kernel, recurrent, bias, hs, gates, dhs, dlast_h; outputs: dx, dh0, dkernel, drecurrent, dbias
template <class T>
class GruGradient final : public RecurrentGradient<T> {
 public:
  explicit GruGradient(const Request& r) : RecurrentGradient<T>(r, 3, 6 * r.inputs[1].shape[1]) {
    dx_parts_ = this->reserve(this->rows() * this->width_), dh_parts_ = this->reserve(this->rows() * this->width_);
  }

  void run(const Arguments& a) override {
    const int64_t units = this->units_;
    T *dx_parts = this->scratch(a, dx_parts_), *dh_parts = this->scratch(a, dh_parts_);
    this->run_back(a, a.in<T>(3), a.in<T>(8), true, a.out<T>(1), [&](const auto& row) {
      const int64_t i = row.sample, t = row.step, state = this->at(i, t, units);
      this->loops_.gru_gradient(units, a.in<T>(6) + 4 * state, this->before(a.in<T>(1), a.in<T>(5), i, t),
                                a.in<T>(7) + state, row.dh, dx_parts + 3 * state, dh_parts + 3 * state, row.dgates,
                                row.dbias);
      this->keep_h_before(a, a.in<T>(1), a.in<T>(5), i, t);
    });
    this->finish_gradients(a, a.in<T>(0), a.in<T>(2), dx_parts, dh_parts, a.out<T>(0), a.out<T>(2), a.out<T>(3),
                           a.out<T>(4));
  }

 private:
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
