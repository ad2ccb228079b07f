// Attention: a part is one head of one sample and some of its queries. Scores live in the thread's cache only; the
// gradient computes them again.
#include "attention.h"

#include <algorithm>

#include "blas.h"
#include "converted.h"
#include "thread_scratch.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kFewestQueries = 64;         ///< of a block that is not the last: a product packs the keys for each
constexpr int64_t kBlockScores = 1 << 15;      ///< of a block of more queries
constexpr int64_t kRegionParts = 32;           ///< so many at most: heads that lie together stay together
constexpr double kFlopsPerRegion = 100e3;

/// q, k, v, or what is like them, of (batch, steps, heads, width): a head of a sample is a matrix of `steps` rows. Heads
/// are numbered through all samples.
struct Heads {
  explicit Heads(const Shape& shape) : steps(shape[1]), heads(shape[2]), width(shape[3]), count(shape[0] * heads) {}
  int64_t ld() const { return heads * width; }
  int64_t offset(int64_t head, int64_t step = 0) const { return ((head / heads * steps + step) * heads + head % heads) * width; }
  int64_t steps, heads, width, count;
};

/// Element (i,j,k,l) of the mask is at the sum of each times its stride; an axis of one element has stride 0.
class MaskStrides {
 public:
  explicit MaskStrides(const Shape* shape) {
    int64_t stride = 1;
    for (int i = 3; shape && i >= 0; stride *= (*shape)[i--]) strides_[i] = (*shape)[i] == 1 ? 0 : stride;
  }
  AttentionMask at(const std::byte* mask, int64_t sample, int64_t head, int64_t query) const {
    const auto* first = reinterpret_cast<const uint8_t*>(mask) + sample * strides_[0] + head * strides_[1] + query * strides_[2];
    return {first, strides_[2], strides_[3]};
  }

 private:
  int64_t strides_[4] = {};
};

/// Asks for some rows of a head. They are too short and too far apart for the machine to see them coming.
template <class T>
void fetch(const T* x, const Heads& heads, int64_t head, int64_t begin, int64_t end) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t step = begin; step < end; ++step) {
    const T* row = x + heads.offset(head, step);
    for (int64_t i = 0; i < heads.width; i += kLine) __builtin_prefetch(row + i, 0, 2);
  }
}

/// What both directions share. `others`: inputs before the mask.
template <class T, class O>
class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const Request& r, size_t others)
      : query_(r.inputs[0].shape), key_(r.inputs[1].shape), value_(r.inputs[2].shape),
        context_(r.inputs[0].shape.slice(0, 3).concat({value_.width})), scale_(static_cast<T>(static_cast<const O&>(r.op).scale)),
        others_(others), masked_(r.inputs.size() > others), mask_(masked_ ? &r.inputs[others].shape : nullptr),
        loops_(attention_loops<T>()) {
    block_ = std::min(query_.steps, std::max(kFewestQueries, kBlockScores / key_.steps));
  }
  std::string name() const override { return "highway packed"; }

 protected:
  int64_t blocks() const { return block_ == 0 ? 0 : (query_.steps + block_ - 1) / block_; }
  /// Of `products` products of queries and keys.
  double flops_of(double products) const {
    return products * static_cast<double>(query_.count * query_.steps) * static_cast<double>(key_.steps) *
           static_cast<double>(query_.width + value_.width);
  }
  /// f(head, part of the head).
  template <class F>
  void each_part(const Arguments& a, int64_t parts_of_head, F&& f) const {
    const int64_t parts = query_.count * parts_of_head;
    const auto grain = static_cast<int64_t>(kFlopsPerRegion * static_cast<double>(parts) / std::max(flops(), 1.0));
    a.pool.blocks(parts, std::max({grain, parts / kRegionParts, int64_t{1}}), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(i / parts_of_head, i % parts_of_head);
    });
  }
  /// x = q k' for `rows` queries from `first` on.
  Scores<T> scores(const Arguments& a, int64_t head, int64_t first, int64_t rows, T* x) const {
    packed_gemm<T>({false, true, rows, key_.steps, query_.width, a.in<T>(0) + query_.offset(head, first), query_.ld(),
                    a.in<T>(1) + key_.offset(head), key_.ld(), 0, x, key_.steps});
    Scores<T> scores{rows, key_.steps, x, scale_, {}};
    if (masked_) scores.mask = mask_.at(a.inputs[others_], head / query_.heads, head % query_.heads, first);
    return scores;
  }
  /// f(scores of a few rows, first of the rows) for all of them; where a head is one block, the next head's q, k and v are
  /// fetched meanwhile, a few rows at a time.
  template <class F>
  void each_slice(const Arguments& a, int64_t head, const Scores<T>& scores, F&& f) const {
    constexpr int64_t kRows = 4;
    const bool has_next = head + 1 < query_.count && blocks() == 1;
    for (int64_t i = 0; i < scores.rows; i += kRows) {
      const int64_t rows = std::min(kRows, scores.rows - i);
      auto fetch_next = [&](const T* x, const Heads& heads) {
        fetch(x, heads, head + 1, heads.steps * i / scores.rows, heads.steps * (i + rows) / scores.rows);
      };
      if (has_next) fetch_next(a.in<T>(0), query_), fetch_next(a.in<T>(1), key_), fetch_next(a.in<T>(2), value_);
      AttentionMask mask = scores.mask;
      if (mask.first) mask.first += i * mask.query;
      f(Scores<T>{rows, scores.keys, scores.x + i * scores.keys, scores.scale, mask}, i);
    }
  }
  int64_t statistics(int64_t head, int64_t query) const { return 2 * (head * query_.steps + query); }

  Heads query_, key_, value_, context_;
  int64_t block_;
  T scale_;
  size_t others_;
  bool masked_;
  MaskStrides mask_;
  AttentionLoops<T> loops_;
};

template <class T>
class AttentionForward final : public AttentionKernel<T, Attention> {
 public:
  explicit AttentionForward(const Request& r) : AttentionKernel<T, Attention>(r, 3) {}

  void run(const Arguments& a) override {
    this->each_part(a, this->blocks(), [&](int64_t head, int64_t block) {
      const auto &q = this->query_, &k = this->key_, &v = this->value_;
      const int64_t first = block * this->block_, rows = std::min(this->block_, q.steps - first);
      T* x = reinterpret_cast<T*>(thread_scratch(static_cast<size_t>((rows + 1) * k.steps + rows * v.width) * sizeof(T)));
      T *penalty = x + rows * k.steps, *mixed = penalty + k.steps;
      T* statistics = a.out<T>(1) + this->statistics(head, first);
      this->each_slice(a, head, this->scores(a, head, first, rows, x), [&](const Scores<T>& scores, int64_t row) {
        this->loops_.exponentials(scores, statistics + 2 * row, penalty);
      });
      packed_gemm<T>({false, false, rows, v.width, k.steps, x, k.steps, a.in<T>(2) + v.offset(head), v.ld(), 0, mixed, v.width});
      this->loops_.divide(mixed, rows, v.width, statistics, a.out<T>(0) + this->context_.offset(head, first), this->context_.ld());
    });
  }
  double flops() const override { return this->flops_of(2); }
};

template <class T>
class AttentionGradient final : public AttentionKernel<T, AttentionBackward> {
 public:
  explicit AttentionGradient(const Request& r) : AttentionKernel<T, AttentionBackward>(r, 5) {}

  void run(const Arguments& a) override {
    this->each_part(a, 1, [&](int64_t head, int64_t) {
      for (int64_t block = 0; block < this->blocks(); ++block) run_block(a, head, block * this->block_);
    });
  }
  double flops() const override { return this->flops_of(5); }

 private:
  void run_block(const Arguments& a, int64_t head, int64_t first) const {
    const auto &q = this->query_, &k = this->key_, &v = this->value_, &context = this->context_;
    const int64_t rows = std::min(this->block_, q.steps - first), keys = k.steps;
    T* w = reinterpret_cast<T*>(thread_scratch(static_cast<size_t>((2 * rows + 1) * keys) * sizeof(T)));
    T *dw = w + rows * keys, *penalty = dw + rows * keys;
    const T *query = a.in<T>(0) + q.offset(head, first), *dy = a.in<T>(4) + context.offset(head, first);
    const T *key = a.in<T>(1) + k.offset(head), *value = a.in<T>(2) + v.offset(head);
    const T add = first == 0 ? 0 : 1;

    const Scores<T> weights = this->scores(a, head, first, rows, w);
    const T* statistics = a.in<T>(3) + this->statistics(head, first);
    this->each_slice(a, head, weights, [&](const Scores<T>& scores, int64_t row) {
      this->loops_.weights(scores, statistics + 2 * row, penalty);
    });
    packed_gemm<T>({true, false, keys, v.width, rows, w, keys, dy, context.ld(), add, a.out<T>(2) + v.offset(head), v.ld()});
    packed_gemm<T>({false, true, rows, keys, v.width, dy, context.ld(), value, v.ld(), 0, dw, keys});
    this->loops_.gradient(weights, dw);
    packed_gemm<T>({false, false, rows, q.width, keys, dw, keys, key, k.ld(), 0, a.out<T>(0) + q.offset(head, first), q.ld()});
    packed_gemm<T>({true, false, keys, q.width, rows, dw, keys, query, q.ld(), add, a.out<T>(1) + k.offset(head), k.ld()});
  }
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Request& r) {
  switch (r.inputs[0].dtype) {
    case DType::float32: return std::make_unique<K<float>>(r);
    case DType::float64: return std::make_unique<K<double>>(r);
    default: return nullptr;
  }
}

}  // namespace

std::span<const KernelRow> attention_kernels() {
  static constexpr KernelFactory kHalf = make_converted<attention_kernels>;
  static constexpr KernelRow kRows[] = {{"attention", make<AttentionForward>}, {"attention", kHalf},
                                        {"attention_backward", make<AttentionGradient>}, {"attention_backward", kHalf}};
  return kRows;
}

}  // namespace crescent::cpu
