// The forward pass over whole sequences. The batch is divided into parts, and each part goes
// through time separately, without waiting for others, in chunks of steps whose data stay in its
// core's cache: first the products of the inputs with the gates' weights, then the steps. If the
// batch is too small for parts, the units are divided among the threads instead, with a barrier
// after every step. The division of sums depends on shapes only, so results do not depend on the
// number of threads.
#pragma once
#include "matmul/matmul.h"
#include "recurrent/sequence.h"
#include "threads/lockstep.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {

/// Number of steps whose input products are computed together.
constexpr int64_t kInputSteps = 12;
constexpr int64_t kMinPackedWeights = 16384;  ///< fewest weights that a task packs

/// The number of parts into which the forward pass divides a batch. It may divide it into parts of
/// only half of kPartRows samples, which are no slower in this pass.
inline int64_t forward_parts(int64_t batch) {
  return std::max(min_part_count(batch), std::min(batch / (kPartRows / 2), kManyParts));
}
/// Packs weights (rows, gates * units) into panels.
template <class T>
class PackPanels final : public Kernel {
 public:
  PackPanels(int64_t rows, int64_t units, int64_t gate_count)
      : rows_(rows), units_(units), gate_count_(gate_count), loops_(recurrent_loops<T>()) {}
  int64_t values() const { return rows_ * gate_count_ * panel_count() * loops_.lanes; }
  std::string form() const { return concat("recurrent ", rows_, " ", units_, " ", gate_count_); }
  void pack(CpuThreads& threads, const T* weights, T* packed) const {
    threads.blocks(panel_count(), 1 + kMinPackedWeights / (1 + rows_ * gate_count_ * loops_.lanes),
                   [&](int64_t first, int64_t last) {
                     for (int64_t panel = first; panel < last; ++panel)
                       loops_.pack(rows_, units_, gate_count_, weights, panel, packed);
                   });
  }
  void run(const Arguments& a) const override { pack(a.threads, a.in<T>(0), a.out<T>(0)); }
  std::string name() const override { return "pack"; }

 private:
  int64_t panel_count() const { return (units_ + loops_.lanes - 1) / loops_.lanes; }

  int64_t rows_, units_, gate_count_;
  RecurrentLoops<T> loops_;
};

/// The kernel of a forward pass. Its inputs are x, the initial states, then kernel, recurrent
/// weights and bias, and optional dropout factors of states; output 1 is the last h.
template <class T>
class RecurrentForward : public Recurrent<T> {
 public:
  RecurrentForward(const Request& r, int64_t gate_count, int kernel)
      : Recurrent<T>(r, gate_count, forward_parts(r.inputs[0].shape[0])),
        kernel_input_index_(kernel),
        bias_rows_(r.inputs[kernel + 2].shape.rank()),
        chunk_steps_(std::clamp<int64_t>(this->steps_, 1, kInputSteps)),
        pack_kernel_(this->features_, this->units_, gate_count),
        pack_recurrent_(this->units_, this->units_, gate_count),
        pack_bias_(1, this->units_, gate_count),
        has_factors_(static_cast<int>(r.inputs.size()) > kernel + 3) {
    packed_kernel_offset_ = this->shared_.reserve(pack_kernel_.values());
    packed_recurrent_offset_ = this->shared_.reserve(pack_recurrent_.values());
    packed_bias_offset_ = this->shared_.reserve(bias_rows_ * pack_bias_.values());
    if (this->part_count_ == 1) x_products_offset_ = this->shared_.reserve(x_product_values());
    if (has_factors_) dropped_h_offset_ = this->shared_.reserve(2 * this->batch_ * this->units_);
  }

  InputConversion prepare(int input) override {
    if (input != kernel_input_index_ && input != kernel_input_index_ + 1) return {};
    const PackPanels<T>& pack = input == kernel_input_index_ ? pack_kernel_ : pack_recurrent_;
    (input == kernel_input_index_ ? is_kernel_packed_ : is_recurrent_packed_) = true;
    return {std::make_unique<PackPanels<T>>(pack),
            {sizeof(T) == 4 ? DType::float32 : DType::float64, {pack.values()}},
            pack.form()};
  }

 protected:
  struct Loops {
    void (*input)(const RecurrentInput<T>&);
    void (*step)(const RecurrentStep<T>&);
  };

  /// The addresses of the initial states and of the results. A GRU has no cells, so c0 and cells
  /// are null.
  struct Results {
    const T *h0, *c0;
    T *hs, *cells, *gates;
  };

  void run_steps(const Arguments& a, Loops loops, const Results& results) const {
    const Invocation run{
        loops,
        results,
        a.in<T>(0),
        packed(a, is_kernel_packed_, kernel_input_index_, pack_kernel_, packed_kernel_offset_),
        packed(a, is_recurrent_packed_, kernel_input_index_ + 1, pack_recurrent_,
               packed_recurrent_offset_),
        this->scratch(a, packed_bias_offset_),
        has_factors_ ? a.in<T>(kernel_input_index_ + 3) : nullptr,
        has_factors_ ? this->scratch(a, dropped_h_offset_) : nullptr};
    if (run.factors)
      multiply(results.h0, run.factors, this->batch_ * this->units_, dropped(run, 0));
    for (int64_t row = 0; row < bias_rows_; ++row) {
      pack_bias_.pack(a.threads, a.in<T>(kernel_input_index_ + 2) + row * this->width_,
                      this->scratch(a, packed_bias_offset_) + row * pack_bias_.values());
    }
    const int64_t panel_count = this->padded(this->units_) / this->loops_.lanes;
    if (this->part_count_ > 1) {
      a.threads.parallel(this->part_count_, [&](int64_t part, int) {
        const StepShare share{this->first_sample(part), this->first_sample(part + 1), 0,
                              panel_count,
                              reinterpret_cast<T*>(thread_scratch(x_product_values() * sizeof(T)))};
        for (int64_t t = 0; t < this->steps_; ++t) step(run, t, share);
      });
    } else {
      const int64_t max_threads =
          this->batch_ * this->units_ * this->width_ / kMinMultiplicationsPerThread;
      lockstep(a.threads, this->steps_, panel_count, max_threads,
               [&](int64_t t, int64_t first, int64_t last) {
                 step(run, t, {0, this->batch_, first, last, this->scratch(a, x_products_offset_)});
               });
    }
  }

  /// Copies the last state of every sample.
  void copy_last(const T* state0, const T* states, T* last_state) const {
    for (int64_t i = 0; i < this->batch_; ++i) {
      const T* from = this->steps_ ? states + this->row_offset(i, this->steps_ - 1, this->units_)
                                   : state0 + i * this->units_;
      std::copy_n(from, this->units_, last_state + i * this->units_);
    }
  }

 private:
  /// The part of a step that one thread computes: samples [first, last) and panels [first_panel,
  /// last_panel) of units.
  struct StepShare {
    int64_t first, last, first_panel, last_panel;
    T* x_products;
  };
  struct Invocation {
    Loops loops;
    Results results;
    const T *x, *kernel, *recurrent, *bias, *factors;
    /// Memory for the products of states and dropout factors: for even steps, then for odd steps.
    T* dropped;
  };
  static void multiply(const T* x, const T* factors, int64_t count, T* y) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[i] * factors[i];
  }
  T* dropped(const Invocation& run, int64_t t) const {
    return run.dropped + t % 2 * this->batch_ * this->units_;
  }
  /// Multiplies the states of step t that the thread has just computed by the dropout factors; step
  /// t + 1 reads the products.
  void apply_dropout(const Invocation& run, int64_t t, const StepShare& share) const {
    const int64_t first = share.first_panel * this->loops_.lanes,
                  last = std::min(share.last_panel * this->loops_.lanes, this->units_);
    for (int64_t i = share.first; i < share.last; ++i) {
      const int64_t offset = i * this->units_ + first;
      multiply(run.results.hs + this->row_offset(i, t, this->units_) + first, run.factors + offset,
               last - first, dropped(run, t + 1) + offset);
    }
  }
  int64_t x_product_values() const {
    return this->max_samples() * chunk_steps_ * this->gate_count_ * this->padded(this->units_);
  }
  const T* packed(const Arguments& a, bool is_packed, int input, const PackPanels<T>& pack,
                  size_t index) const {
    if (is_packed) return a.in<T>(input);
    pack.pack(a.threads, a.in<T>(input), this->scratch(a, index));
    return this->scratch(a, index);
  }

  /// Computes a thread's share of step t. In the first step of a chunk it also computes the input
  /// products of all steps of the chunk.
  void step(const Invocation& run, int64_t t, const StepShare& share) const {
    const int64_t begin = t / chunk_steps_ * chunk_steps_,
                  steps = std::min(chunk_steps_, this->steps_ - begin),
                  samples = share.last - share.first;
    const int64_t width = this->gate_count_ * this->loops_.lanes, features = this->features_,
                  units = this->units_;
    if (t == begin) {
      run.loops.input({samples, steps, features, share.first_panel, share.last_panel,
                       run.x + this->row_offset(share.first, t, features), run.kernel, run.bias,
                       this->steps_ * features, share.x_products});
    }
    const int64_t state = this->row_offset(share.first, t, units);
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
    s.h_before_stride = run.factors ? units : s.c_stride, s.state_stride = this->steps_ * units,
    s.gates_stride = 4 * s.state_stride;
    s.x_products = share.x_products + (t - begin) * width, s.x_stride = steps * width,
    s.x_panel_stride = samples * steps * width;
    run.loops.step(s);
    if (run.factors) apply_dropout(run, t, share);
  }

  int kernel_input_index_;
  int64_t bias_rows_, chunk_steps_;
  PackPanels<T> pack_kernel_, pack_recurrent_, pack_bias_;
  bool is_kernel_packed_ = false, is_recurrent_packed_ = false, has_factors_;
  // the offsets of arrays in the kernel's scratch memory
  size_t packed_kernel_offset_ = 0, packed_recurrent_offset_ = 0, packed_bias_offset_ = 0,
         x_products_offset_ = 0, dropped_h_offset_ = 0;
};

}  // namespace crescent::cpu
