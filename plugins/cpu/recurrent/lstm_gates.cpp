// Kernels for the gates of an LSTM step. The ops are defined in
// plugins/layers/recurrent/lstm_gates.h; the kernels are found by the names of the ops.
#include <algorithm>

#include "recurrent/recurrent.h"
#include "recurrent/sequence.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kTaskValues = 1 << 12;  ///< number of values of the state that a task computes

template <class T>
class LstmGatesKernel : public Kernel {
 public:
  explicit LstmGatesKernel(const TensorSpec& state)
      : units_(state.shape[-1]),
        rows_(state.shape.slice(0, -1).size()),
        loops_(recurrent_loops<T>()) {}
  std::string name() const override { return "highway"; }

 protected:
  /// Calls f(first row, number of rows) for all parts of the batch.
  template <class F>
  void for_each_part(CpuThreads& threads, F&& f) const {
    const int64_t grain = std::max<int64_t>(1, kTaskValues / std::max<int64_t>(units_, 1));
    threads.blocks(rows_, grain, [&](int64_t begin, int64_t end) { f(begin, end - begin); });
  }

  int64_t units_, rows_;
  RecurrentLoops<T> loops_;
};

// inputs: products with x and with h, previous c; outputs: gates, c, h
template <class T>
class LstmGatesForward final : public LstmGatesKernel<T> {
 public:
  explicit LstmGatesForward(const Request& r) : LstmGatesKernel<T>(r.inputs[2]) {}
  bool may_share(int input, int output) const override {
    return input < 2 ? output == 0 : output > 0;
  }
  void run(const Arguments& a) const override {
    this->for_each_part(a.threads, [&](int64_t first, int64_t rows) {
      const int64_t state = first * this->units_, gates = 4 * state;
      this->loops_.lstm_gates(rows, this->units_, a.in<T>(0) + gates, a.in<T>(1) + gates,
                              a.in<T>(2) + state, a.out<T>(0) + gates, a.out<T>(1) + state,
                              a.out<T>(2) + state);
    });
  }
};

// inputs: gates, c, previous c, dc, dh, and optionally a second dh to add; outputs: gradients of
// the gates and of the previous c
template <class T>
class LstmGatesGradient final : public LstmGatesKernel<T> {
 public:
  explicit LstmGatesGradient(const Request& r)
      : LstmGatesKernel<T>(r.inputs[1]), has_second_dh_(r.inputs.size() > 5) {}
  bool may_share(int input, int output) const override { return input == 3 && output == 1; }
  void run(const Arguments& a) const override {
    const int64_t units = this->units_;
    this->for_each_part(a.threads, [&](int64_t first, int64_t rows) {
      T* zeros = reinterpret_cast<T*>(thread_scratch(5 * static_cast<size_t>(units) * sizeof(T)));
      // memory for the gradient of the bias, which is no result of this op
      T* unused_dbias = zeros + units;
      std::fill_n(zeros, 5 * units, T{0});
      const int64_t begin = first * units, end = begin + rows * units;
      if (a.in<T>(3) != a.out<T>(1))
        std::copy(a.in<T>(3) + begin, a.in<T>(3) + end, a.out<T>(1) + begin);
      for (int64_t offset = begin; offset < end; offset += units) {
        this->loops_.lstm_gradient(units, a.in<T>(0) + 4 * offset, a.in<T>(2) + offset,
                                   a.in<T>(1) + offset, a.in<T>(4) + offset,
                                   has_second_dh_ ? a.in<T>(5) + offset : zeros,
                                   a.out<T>(1) + offset, a.out<T>(0) + 4 * offset, unused_dbias);
      }
    });
  }

 private:
  bool has_second_dh_;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Request& r) {
  if (r.inputs[0].dtype == DType::float32) return std::make_unique<K<float>>(r);
  if (r.inputs[0].dtype == DType::float64) return std::make_unique<K<double>>(r);
  return nullptr;
}

}  // namespace

std::unique_ptr<Kernel> make_lstm_gates(const Request& r) { return make<LstmGatesForward>(r); }
std::unique_ptr<Kernel> make_lstm_gates_gradient(const Request& r) {
  return make<LstmGatesGradient>(r);
}

}  // namespace crescent::cpu
