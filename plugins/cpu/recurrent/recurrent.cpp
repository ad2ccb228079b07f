// LSTM and GRU over whole sequences. Every part of the batch goes through time on its own, without
// barriers, some steps at a time, so that what these make stays in its core's cache: first the
// inputs' part in the gates, then the steps; on the way back first the steps, then the inputs'
// gradient and a share of the weights' gradients. Forward, a batch too small for parts is cut by
// units instead, and the threads meet after every step. Sums are cut by shapes alone, so the bits
// do not depend on the number of threads.
#include "recurrent/recurrent.h"

#include <algorithm>

#include "product/blas.h"
#include "product/matmul.h"
#include "threads/lockstep.h"
#include "threads/thread_scratch.h"
#include "vectors/converted.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kInputSteps = 12;  // whose inputs' part is made at once
constexpr int64_t kGradientRows =
    96;  // samples times steps whose gradients are kept for the weights'
constexpr int64_t kPackedAlone = 16384;     // values that do not repay a thread
constexpr int64_t kThreadProducts = 16384;  // multiplications of a step that repay a thread

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Parts of a batch. Halves of kPartRows cost nothing forward; on the way back, where products have
/// so few rows at every step, a tenth, and are made only where they give many parts.
constexpr int64_t kManyParts = 16, kHalfRows = kPartRows / 2;
int64_t forward_parts(int64_t batch) {
  return std::max({pieces(batch, kPartRows), std::clamp<int64_t>(batch / 4, 1, 2),
                   std::min(batch / kHalfRows, kManyParts)});
}
int64_t gradient_parts(int64_t batch) {
  const int64_t few = std::max(pieces(batch, kPartRows), std::clamp<int64_t>(batch / 4, 1, 2));
  return batch < kManyParts * kHalfRows ? few : std::max(few, kManyParts);
}

/// Arrays of T, one after the other.
template <class T>
class Layout {
 public:
  /// Where `count` values begin.
  size_t reserve(int64_t count) {
    const size_t at = values_;
    values_ += static_cast<size_t>(round_up(count, 64 / sizeof(T)));
    return at;
  }
  size_t bytes() const { return values_ * sizeof(T); }

 private:
  size_t values_ = 0;
};

/// Weights (rows, gates u) to panels.
template <class T>
class PackPanels final : public Kernel {
 public:
  PackPanels(int64_t rows, int64_t units, int64_t gates)
      : rows_(rows), units_(units), gates_(gates), loops_(recurrent_loops<T>()) {}
  int64_t values() const { return rows_ * gates_ * panels() * loops_.lanes; }
  std::string form() const { return concat("recurrent ", rows_, " ", units_, " ", gates_); }
  void pack(Pool& pool, const T* weights, T* packed) const {
    pool.blocks(panels(), 1 + kPackedAlone / (1 + rows_ * gates_ * loops_.lanes),
                [&](int64_t first, int64_t last) {
                  for (int64_t panel = first; panel < last; ++panel)
                    loops_.pack(rows_, units_, gates_, weights, panel, packed);
                });
  }
  void run(const Arguments& a) override { pack(a.pool, a.in<T>(0), a.out<T>(0)); }
  std::string name() const override { return "pack"; }

 private:
  int64_t panels() const { return (units_ + loops_.lanes - 1) / loops_.lanes; }

  int64_t rows_, units_, gates_;
  RecurrentLoops<T> loops_;
};

/// Sizes of a request whose input 0 is x (batch, steps, features) and whose h0 is (batch, units).
template <class T>
class Recurrent : public Kernel {
 public:
  Recurrent(const Request& r, int64_t gates, int64_t parts)
      : batch_(r.inputs[0].shape[0]),
        steps_(r.inputs[0].shape[1]),
        features_(r.inputs[0].shape[2]),
        units_(r.inputs[1].shape[1]),
        gates_(gates),
        width_(gates * units_),
        parts_(parts),
        loops_(recurrent_loops<T>()) {}

  std::string name() const override { return "recurrent, highway"; }
  size_t scratch_bytes() const override { return shared_.bytes(); }
  double flops() const override {
    return 2.0 * static_cast<double>(batch_ * steps_) * static_cast<double>(features_ + units_) *
           static_cast<double>(width_);
  }

 protected:
  int64_t padded(int64_t columns) const { return round_up(columns, loops_.lanes); }
  int64_t first_sample(int64_t part) const { return batch_ * part / parts_; }
  int64_t most_samples() const { return std::max<int64_t>(1, (batch_ + parts_ - 1) / parts_); }
  /// Row (sample, step) of a tensor (batch, steps, width).
  int64_t at(int64_t sample, int64_t step, int64_t width) const {
    return (sample * steps_ + step) * width;
  }
  T* scratch(const Arguments& a, size_t at) const { return reinterpret_cast<T*>(a.scratch) + at; }

  int64_t batch_, steps_, features_, units_, gates_, width_, parts_;
  RecurrentLoops<T> loops_;
  Layout<T> shared_;  ///< in the kernel's scratch memory
};

/// A forward pass: inputs x, h0, ..., kernel and recurrent weights one after the other, bias,
/// maybe factors of states; output 1 is the last h.
template <class T>
class RecurrentForward : public Recurrent<T> {
 public:
  RecurrentForward(const Request& r, int64_t gates, int kernel)
      : Recurrent<T>(r, gates, forward_parts(r.inputs[0].shape[0])),
        kernel_(kernel),
        bias_rows_(r.inputs[kernel + 2].shape.rank()),
        chunk_(std::clamp<int64_t>(this->steps_, 1, kInputSteps)),
        pack_kernel_(this->features_, this->units_, gates),
        pack_recurrent_(this->units_, this->units_, gates),
        pack_bias_(1, this->units_, gates),
        has_factors_(static_cast<int>(r.inputs.size()) > kernel + 3) {
    packed_kernel_ = this->shared_.reserve(pack_kernel_.values());
    packed_recurrent_ = this->shared_.reserve(pack_recurrent_.values());
    packed_bias_ = this->shared_.reserve(bias_rows_ * pack_bias_.values());
    if (this->parts_ == 1) x_parts_ = this->shared_.reserve(x_part_values());
    if (has_factors_) dropped_ = this->shared_.reserve(2 * this->batch_ * this->units_);
  }

  Prepared prepare(int input) override {
    if (input != kernel_ && input != kernel_ + 1) return {};
    const PackPanels<T>& pack = input == kernel_ ? pack_kernel_ : pack_recurrent_;
    (input == kernel_ ? is_kernel_packed_ : is_recurrent_packed_) = true;
    return {std::make_unique<PackPanels<T>>(pack),
            {sizeof(T) == 4 ? DType::float32 : DType::float64, {pack.values()}},
            pack.form()};
  }

 protected:
  struct Loops {
    void (*input)(const RecurrentInput<T>&);
    void (*step)(const RecurrentStep<T>&);
  };

  /// Where first states and results begin; gru: no cells.
  struct Results {
    const T *h0, *c0;
    T *hs, *cells, *gates;
  };

  void run_steps(const Arguments& a, Loops loops, const Results& results) const {
    const Run run{loops,
                  results,
                  a.in<T>(0),
                  packed(a, is_kernel_packed_, kernel_, pack_kernel_, packed_kernel_),
                  packed(a, is_recurrent_packed_, kernel_ + 1, pack_recurrent_, packed_recurrent_),
                  this->scratch(a, packed_bias_),
                  has_factors_ ? a.in<T>(kernel_ + 3) : nullptr,
                  has_factors_ ? this->scratch(a, dropped_) : nullptr};
    if (run.factors)
      multiply(results.h0, run.factors, this->batch_ * this->units_, dropped(run, 0));
    for (int64_t row = 0; row < bias_rows_; ++row) {
      pack_bias_.pack(a.pool, a.in<T>(kernel_ + 2) + row * this->width_,
                      this->scratch(a, packed_bias_) + row * pack_bias_.values());
    }
    const int64_t panels = this->padded(this->units_) / this->loops_.lanes;
    if (this->parts_ > 1) {
      a.pool.parallel(this->parts_, [&](int64_t part, int) {
        const Share share{
            this->first_sample(part), this->first_sample(part + 1), 0, panels,
            reinterpret_cast<T*>(thread_scratch(static_cast<size_t>(x_part_values()) * sizeof(T)))};
        for (int64_t t = 0; t < this->steps_; ++t) step(run, t, share);
      });
    } else {
      const int64_t most = this->batch_ * this->units_ * this->width_ / kThreadProducts;
      lockstep(a.pool, this->steps_, panels, most, [&](int64_t t, int64_t first, int64_t last) {
        step(run, t, {0, this->batch_, first, last, this->scratch(a, x_parts_)});
      });
    }
  }

  /// The last state of every sample.
  void copy_last(const T* state0, const T* states, T* last) const {
    for (int64_t i = 0; i < this->batch_; ++i) {
      const T* from = this->steps_ ? states + this->at(i, this->steps_ - 1, this->units_)
                                   : state0 + i * this->units_;
      std::copy_n(from, this->units_, last + i * this->units_);
    }
  }

 private:
  /// Samples and panels of units that a thread computes.
  struct Share {
    int64_t first, last, first_panel, last_panel;
    T* x_parts;
  };
  struct Run {
    Loops loops;
    Results results;
    const T *x, *kernel, *recurrent, *bias, *factors;
    T* dropped;  ///< states times factors, before even and before odd steps
  };
  static void multiply(const T* x, const T* factors, int64_t count, T* y) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[i] * factors[i];
  }
  T* dropped(const Run& run, int64_t t) const {
    return run.dropped + t % 2 * this->batch_ * this->units_;
  }
  /// What the next step sees of the states that a thread just made.
  void drop(const Run& run, int64_t t, const Share& share) const {
    const int64_t first = share.first_panel * this->loops_.lanes,
                  last = std::min(share.last_panel * this->loops_.lanes, this->units_);
    for (int64_t i = share.first; i < share.last; ++i) {
      const int64_t at = i * this->units_ + first;
      multiply(run.results.hs + this->at(i, t, this->units_) + first, run.factors + at,
               last - first, dropped(run, t + 1) + at);
    }
  }
  int64_t x_part_values() const {
    return this->most_samples() * chunk_ * this->gates_ * this->padded(this->units_);
  }
  const T* packed(const Arguments& a, bool is_packed, int input, const PackPanels<T>& pack,
                  size_t place) const {
    if (is_packed) return a.in<T>(input);
    pack.pack(a.pool, a.in<T>(input), this->scratch(a, place));
    return this->scratch(a, place);
  }

  /// The first step of a chunk begins with the inputs' part in the gates of all of them.
  void step(const Run& run, int64_t t, const Share& share) const {
    const int64_t begin = t / chunk_ * chunk_, steps = std::min(chunk_, this->steps_ - begin),
                  samples = share.last - share.first;
    const int64_t width = this->gates_ * this->loops_.lanes, features = this->features_,
                  units = this->units_;
    if (t == begin) {
      run.loops.input({samples, steps, features, share.first_panel, share.last_panel,
                       run.x + this->at(share.first, t, features), run.kernel, run.bias,
                       this->steps_ * features, share.x_parts});
    }
    const int64_t state = this->at(share.first, t, units);
    RecurrentStep<T> s{};
    s.samples = samples, s.units = units, s.first_panel = share.first_panel,
    s.last_panel = share.last_panel;
    s.weights = run.recurrent, s.bias = run.bias + pack_bias_.values();
    const Results& r = run.results;
    s.h_before = run.factors ? dropped(run, t) + share.first * units
                 : t         ? r.hs + state - units
                             : r.h0 + share.first * units;
    s.h = r.hs + state, s.gates = r.gates + 4 * state;
    if (r.cells)
      s.c_before = t ? r.cells + state - units : r.c0 + share.first * units, s.c = r.cells + state;
    s.c_stride = t ? this->steps_ * units : units;
    s.before_stride = run.factors ? units : s.c_stride, s.state_stride = this->steps_ * units,
    s.gates_stride = 4 * s.state_stride;
    s.x_part = share.x_parts + (t - begin) * width, s.x_stride = steps * width,
    s.x_panel = samples * steps * width;
    run.loops.step(s);
    if (run.factors) drop(run, t, share);
  }

  int kernel_;
  int64_t bias_rows_, chunk_;
  PackPanels<T> pack_kernel_, pack_recurrent_, pack_bias_;
  bool is_kernel_packed_ = false, is_recurrent_packed_ = false, has_factors_;
  size_t packed_kernel_ = 0, packed_recurrent_ = 0, packed_bias_ = 0, x_parts_ = 0, dropped_ = 0;
};

/// What both gradients share. Parts that follow each other on one thread add their gradients of
/// weights to the same sums, those of a group; in the end these are added up.
template <class T>
class RecurrentGradient : public Recurrent<T> {
 public:
  /// `biases`: values of the bias. `is_shared`: the gates' gradients are the same for the parts of
  /// x and of h. `factors`: the input that they are, if any.
  RecurrentGradient(const Request& r, int64_t gates, int64_t biases, bool is_shared, int factors)
      : Recurrent<T>(r, gates, gradient_parts(r.inputs[0].shape[0])),
        factors_(static_cast<int>(r.inputs.size()) > factors ? factors : -1),
        biases_(biases),
        chunk_(std::clamp<int64_t>(kGradientRows / this->most_samples(), 1,
                                   std::max<int64_t>(1, this->steps_))),
        inputs_(this->features_ + this->units_),
        sums_(inputs_ * this->padded(this->width_) + biases),
        groups_(std::min(this->parts_, std::clamp<int64_t>(kSums / (1 + sums_), 4, 16))),
        dz_stride_(row_stride(this->width_)),
        x_stride_(row_stride(inputs_)) {
    packed_kernel_ = this->shared_.reserve(this->padded(this->features_) * this->width_);
    packed_recurrent_ = this->shared_.reserve(this->padded(this->units_) * this->width_);
    sums_at_ = this->shared_.reserve(groups_ * sums_);
    const int64_t samples = this->most_samples(), rows = samples * chunk_;
    dh_ = own_.reserve(samples * this->padded(this->units_)),
    x_rows_ = own_.reserve(rows * x_stride_);
    dx_rows_ = own_.reserve(rows * this->padded(this->features_));
    dx_part_ = dh_part_ = own_.reserve(rows * dz_stride_);
    if (!is_shared) dh_part_ = own_.reserve(rows * dz_stride_);
  }
  double flops() const override { return 2 * Recurrent<T>::flops(); }

 protected:
  const T* factors(const Arguments& a) const { return factors_ < 0 ? nullptr : a.in<T>(factors_); }
  struct Tensors {
    const T *x, *h0, *kernel, *recurrent, *hs, *dlast_h;
    const T* factors;  ///< of states; null: none
    T *dx, *dh0, *dkernel, *drecurrent, *dbias;
  };
  /// What a step works on for one sample.
  struct Row {
    int64_t sample, step;
    T* dh;  ///< gradient of the state; then what of it reaches the state before directly
    T *dx_part, *dh_part;  ///< gradients of the gates' parts
    T* dbias;
    const T* h_before;  ///< as the step saw it
  };

  /// row(Row) for all samples and steps, from the last step to the first. `add`: row() leaves
  /// something in dh.
  template <class F>
  void run_back(const Arguments& a, const Tensors& p, bool add, F&& row) const {
    const int64_t blocks = (this->width_ + kDepth - 1) / kDepth;
    a.pool.parallel(2 * blocks, [&](int64_t i, int) {
      const bool first = i < blocks;
      this->loops_.pack_transposed(first ? this->features_ : this->units_, this->width_,
                                   first ? p.kernel : p.recurrent, i % blocks,
                                   this->scratch(a, first ? packed_kernel_ : packed_recurrent_));
    });
    a.pool.parallel(groups_, [&](int64_t group, int) {
      T* sums = this->scratch(a, sums_at_) + group * sums_;
      std::fill_n(sums, sums_, T{0});
      for (int64_t part = this->parts_ * group / groups_;
           part < this->parts_ * (group + 1) / groups_; ++part) {
        part_back(a, p, add, this->first_sample(part), this->first_sample(part + 1), sums, row);
      }
    });
    add_up(a, p);
  }

 private:
  static constexpr int64_t kSums = int64_t{32}
                                   << 20;  // values that all groups together should not exceed
  /// Rows of a power of two would compete for the same places in the cache.
  int64_t row_stride(int64_t width) const { return this->padded(width) + this->loops_.lanes; }

  /// A row of states, or of their gradient, times the sample's factors.
  void scale(const Tensors& p, int64_t sample, T* row) const {
    for (int64_t u = 0; p.factors && u < this->units_; ++u)
      row[u] *= p.factors[sample * this->units_ + u];
  }

  template <class F>
  void part_back(const Arguments& a, const Tensors& p, bool add, int64_t first, int64_t last,
                 T* sums, F&& row) const {
    T* own = reinterpret_cast<T*>(thread_scratch(own_.bytes()));
    const int64_t units = this->units_, features = this->features_, samples = last - first,
                  padded = this->padded(units);
    T *dh = own + dh_, *dbias = sums + sums_ - biases_;
    for (int64_t i = 0; i < samples; ++i)
      std::copy_n(p.dlast_h + (first + i) * units, units, dh + i * padded);
    for (int64_t end = this->steps_; end > 0;) {
      const int64_t begin = (end - 1) / chunk_ * chunk_;
      for (int64_t t = end - 1; t >= begin; --t) {
        T *x_rows = own + x_rows_ + (t - begin) * samples * x_stride_,
          *dx_part = own + dx_part_ + (t - begin) * samples * dz_stride_;
        T* dh_part = own + dh_part_ + (t - begin) * samples * dz_stride_;
        for (int64_t i = 0; i < samples; ++i) {
          T* x_row =
              std::copy_n(p.x + this->at(first + i, t, features), features, x_rows + i * x_stride_);
          std::copy_n(t ? p.hs + this->at(first + i, t - 1, units) : p.h0 + (first + i) * units,
                      units, x_row);
          scale(p, first + i, x_row);
          row(Row{first + i, t, dh + i * padded, dx_part + i * dz_stride_, dh_part + i * dz_stride_,
                  dbias, x_row});
        }
        this->loops_.multiply_transposed(samples, units, this->width_, dh_part, dz_stride_,
                                         this->scratch(a, packed_recurrent_), add, dh);
        for (int64_t i = 0; i < samples; ++i) scale(p, first + i, dh + i * padded);
      }
      chunk_back(a, p, first, samples, begin, end - begin, own, sums);
      end = begin;
    }
    for (int64_t i = 0; i < samples; ++i)
      std::copy_n(dh + i * padded, units, p.dh0 + (first + i) * units);
  }

  /// dx, and a share of the weights' gradients, of a chunk of steps.
  void chunk_back(const Arguments& a, const Tensors& p, int64_t first, int64_t samples,
                  int64_t begin, int64_t steps, T* own, T* sums) const {
    const int64_t features = this->features_, rows = samples * steps,
                  padded = this->padded(features);
    T* dx = own + dx_rows_;
    this->loops_.multiply_transposed(rows, features, this->width_, own + dx_part_, dz_stride_,
                                     this->scratch(a, packed_kernel_), false, dx);
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(dx + row * padded, features,
                  p.dx + this->at(first + row % samples, begin + row / samples, features));
    }
    this->loops_.add_weight_gradient(rows, features, own + x_rows_, x_stride_, this->width_,
                                     own + dx_part_, dz_stride_, sums);
    this->loops_.add_weight_gradient(rows, this->units_, own + x_rows_ + features, x_stride_,
                                     this->width_, own + dh_part_, dz_stride_,
                                     sums + features * this->padded(this->width_));
  }

  void add_up(const Arguments& a, const Tensors& p) const {
    const T* sums = this->scratch(a, sums_at_);
    auto total = [&](const T* first, T* to, int64_t count) {
      std::copy_n(first, count, to);
      for (int64_t group = 1; group < groups_; ++group)
        accumulate(to, first + group * sums_, count);
    };
    a.pool.blocks(inputs_, std::max<int64_t>(1, 2 * kThreadProducts / (1 + this->width_)),
                  [&](int64_t first, int64_t last) {
                    for (int64_t i = first; i < last; ++i) {
                      T* to = i < this->features_
                                  ? p.dkernel + i * this->width_
                                  : p.drecurrent + (i - this->features_) * this->width_;
                      total(sums + i * this->padded(this->width_), to, this->width_);
                    }
                  });
    total(sums + sums_ - biases_, p.dbias, biases_);
  }

  int factors_;
  int64_t biases_, chunk_;
  int64_t inputs_, sums_,
      groups_;  ///< rows of both weights; values that a group sums: weights, bias
  int64_t dz_stride_,
      x_stride_;   ///< of the rows of a chunk: gradients of the gates' parts; x and the h before
  Layout<T> own_;  ///< in a thread's memory
  size_t packed_kernel_ = 0, packed_recurrent_ = 0, sums_at_ = 0;
  size_t dh_ = 0, x_rows_ = 0, dx_rows_ = 0, dx_part_ = 0, dh_part_ = 0;
};

// inputs: x, h0, c0, kernel, recurrent, bias; outputs: hs, last h, last c, gates, cells
template <class T>
class LstmForward final : public RecurrentForward<T> {
 public:
  explicit LstmForward(const Request& r) : RecurrentForward<T>(r, 4, 3) {}

  void run(const Arguments& a) override {
    this->run_steps(a, {this->loops_.lstm_input, this->loops_.lstm},
                    {a.in<T>(1), a.in<T>(2), a.out<T>(0), a.out<T>(4), a.out<T>(3)});
    this->copy_last(a.in<T>(1), a.out<T>(0), a.out<T>(1)),
        this->copy_last(a.in<T>(2), a.out<T>(4), a.out<T>(2));
  }
};

// inputs: x, h0, c0, kernel, recurrent, hs, gates, cells, dhs, dlast_h, dlast_c,
// maybe factors; outputs: dx, dh0, dc0, dkernel, drecurrent, dbias
template <class T>
class LstmGradient final : public RecurrentGradient<T> {
 public:
  explicit LstmGradient(const Request& r)
      : RecurrentGradient<T>(r, 4, 4 * r.inputs[1].shape[1], true, 11) {}

  void run(const Arguments& a) override {
    const int64_t units = this->units_;
    T* dc = a.out<T>(2);  // that of the step at hand
    std::copy_n(a.in<T>(10), this->batch_ * units, dc);
    const T *c0 = a.in<T>(2), *gates = a.in<T>(6), *cells = a.in<T>(7), *dhs = a.in<T>(8);
    this->run_back(
        a,
        {a.in<T>(0), a.in<T>(1), a.in<T>(3), a.in<T>(4), a.in<T>(5), a.in<T>(9), this->factors(a),
         a.out<T>(0), a.out<T>(1), a.out<T>(3), a.out<T>(4), a.out<T>(5)},
        false, [&](const auto& row) {
          const int64_t state = this->at(row.sample, row.step, units);
          const T* c_before = row.step ? cells + state - units : c0 + row.sample * units;
          this->loops_.lstm_gradient(units, gates + 4 * state, c_before, cells + state, row.dh,
                                     dhs + state, dc + row.sample * units, row.dx_part, row.dbias);
        });
  }
};

// inputs: x, h0, kernel, recurrent, bias; outputs: hs, last h, gates
template <class T>
class GruForward final : public RecurrentForward<T> {
 public:
  explicit GruForward(const Request& r) : RecurrentForward<T>(r, 3, 2) {}

  void run(const Arguments& a) override {
    this->run_steps(a, {this->loops_.gru_input, this->loops_.gru},
                    {a.in<T>(1), nullptr, a.out<T>(0), nullptr, a.out<T>(2)});
    this->copy_last(a.in<T>(1), a.out<T>(0), a.out<T>(1));
  }
};

// inputs: x, h0, kernel, recurrent, bias, hs, gates, dhs, dlast_h, maybe factors; outputs: dx, dh0,
// dkernel, drecurrent, dbias
template <class T>
class GruGradient final : public RecurrentGradient<T> {
 public:
  explicit GruGradient(const Request& r)
      : RecurrentGradient<T>(r, 3, 6 * r.inputs[1].shape[1], false, 9) {}

  void run(const Arguments& a) override {
    const int64_t units = this->units_;
    const T *gates = a.in<T>(6), *dhs = a.in<T>(7);
    this->run_back(
        a,
        {a.in<T>(0), a.in<T>(1), a.in<T>(2), a.in<T>(3), a.in<T>(5), a.in<T>(8), this->factors(a),
         a.out<T>(0), a.out<T>(1), a.out<T>(2), a.out<T>(3), a.out<T>(4)},
        true, [&](const auto& row) {
          const int64_t state = this->at(row.sample, row.step, units);
          this->loops_.gru_gradient(units, gates + 4 * state, row.h_before, dhs + state, row.dh,
                                    row.dx_part, row.dh_part, row.dbias);
        });
  }
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Request& r) {
  const DType dtype = r.inputs[0].dtype;
  for (const auto& spec : r.inputs) {
    if (spec.dtype != dtype || !fits_blas(spec.shape.size())) return nullptr;
  }
  switch (dtype) {
    case DType::float32:
      return std::make_unique<K<float>>(r);
    case DType::float64:
      return std::make_unique<K<double>>(r);
    default:
      return nullptr;
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
