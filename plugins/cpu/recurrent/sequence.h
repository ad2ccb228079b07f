// The base of forward and gradient passes over whole sequences: the sizes of a request, and the
// layout of its scratch memory.
#pragma once
#include <algorithm>

#include "kernel/converted.h"
#include "kernel/typed.h"
#include "matmul/blas.h"
#include "recurrent/recurrent.h"

namespace crescent::cpu {

/// Fewest multiplications per time step for which a further thread is used.
constexpr int64_t kMinMultiplicationsPerThread = 16384;

inline int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// The number of parts of a batch such that parts have about kPartRows samples; a batch of at least
/// 8 samples has at least two parts.
inline int64_t min_part_count(int64_t batch) {
  return std::max(pieces(batch, kPartRows), std::clamp<int64_t>(batch / 4, 1, 2));
}
constexpr int64_t kManyParts = 16;

/// Assigns offsets in a block of memory to consecutive arrays of T.
template <class T>
class ScratchLayout {
 public:
  /// Appends an array of `count` values; returns its offset.
  size_t reserve(int64_t count) {
    const size_t offset = values_;
    values_ += static_cast<size_t>(round_up(count, 64 / sizeof(T)));
    return offset;
  }
  size_t bytes() const { return values_ * sizeof(T); }

 private:
  size_t values_ = 0;
};

/// The base of kernels over sequences: the sizes of a request whose input 0 is x (batch, steps,
/// features) and whose h0 is (batch, units).
template <class T>
class Recurrent : public Kernel {
 public:
  Recurrent(const Request& r, int64_t gate_count, int64_t part_count)
      : batch_(r.inputs[0].shape[0]),
        steps_(r.inputs[0].shape[1]),
        features_(r.inputs[0].shape[2]),
        units_(r.inputs[1].shape[1]),
        gate_count_(gate_count),
        width_(gate_count * units_),
        part_count_(part_count),
        loops_(recurrent_loops<T>()) {}

  std::string name() const override { return "recurrent, highway"; }
  size_t scratch_bytes() const override { return shared_.bytes(); }
  double flops() const override {
    return 2.0 * static_cast<double>(batch_ * steps_) * static_cast<double>(features_ + units_) *
           static_cast<double>(width_);
  }

 protected:
  int64_t padded(int64_t columns) const { return round_up(columns, loops_.lanes); }
  int64_t first_sample(int64_t part) const { return batch_ * part / part_count_; }
  int64_t max_samples() const {
    return std::max<int64_t>(1, (batch_ + part_count_ - 1) / part_count_);
  }
  /// The offset of row (sample, step) in a tensor (batch, steps, width).
  int64_t row_offset(int64_t sample, int64_t step, int64_t width) const {
    return (sample * steps_ + step) * width;
  }
  T* scratch(const Arguments& a, size_t offset) const {
    return reinterpret_cast<T*>(a.scratch) + offset;
  }

  int64_t batch_, steps_, features_, units_;
  int64_t gate_count_;  ///< the number of gates of a unit
  int64_t width_;       ///< the number of gates of all units
  int64_t part_count_;  ///< the number of parts into which the batch is divided
  RecurrentLoops<T> loops_;
  ScratchLayout<T> shared_;  ///< the layout of the kernel's scratch memory, which all threads use
};

template <template <class> class K>
std::unique_ptr<Kernel> make_recurrent(const Request& r) {
  const DType dtype = r.inputs[0].dtype;
  for (const auto& spec : r.inputs) {
    if (spec.dtype != dtype || !fits_blas(spec.shape.size())) return nullptr;
  }
  return make_typed<K>(r, dtype);
}

std::unique_ptr<Kernel> make_lstm(const Request& request);
std::unique_ptr<Kernel> make_lstm_gradient(const Request& request);
std::unique_ptr<Kernel> make_lstm_gates(const Request& request);
std::unique_ptr<Kernel> make_lstm_gates_gradient(const Request& request);
std::unique_ptr<Kernel> make_gru(const Request& request);
std::unique_ptr<Kernel> make_gru_gradient(const Request& request);

}  // namespace crescent::cpu
