// The attention kernels. Threads work in parallel on parts: a part is a block of queries in one
// head of one sample. Scores are never written to memory, only to the thread's scratch buffers; the
// gradient kernel computes them again.
#include "attention/attention.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "attention/attention_products.h"
#include "kernel/converted.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {
namespace {

/// The fewest queries per block, except in the last one: each block packs all keys.
constexpr int64_t kMinBlockQueries = 64;
/// The number of scores per block, if a block then has more than kMinBlockQueries queries.
constexpr int64_t kTargetBlockScores = 1 << 15;
/// The largest number of tasks of a parallel region. It is small so that a thread computes
/// neighbouring heads.
constexpr int64_t kMaxRegionParts = 32;
constexpr double kFlopsPerRegion = 100e3;

/// A tensor such as q, k or v of shape (batch, steps, heads, width). A head of a sample is a matrix
/// of `steps` rows; heads are numbered over all samples.
struct Heads {
  explicit Heads(const Shape& shape)
      : steps(shape[1]), heads(shape[2]), width(shape[3]), count(shape[0] * heads) {}
  int64_t ld() const { return heads * width; }
  int64_t offset(int64_t head, int64_t step = 0) const {
    return ((head / heads * steps + step) * heads + head % heads) * width;
  }
  int64_t steps, heads, width, count;
};

/// The strides of the mask: element (i,j,k,l) is at the sum of each index times its stride; an axis
/// with one element has stride 0.
class MaskStrides {
 public:
  explicit MaskStrides(const Shape* shape) {
    int64_t stride = 1;
    for (int i = 3; shape && i >= 0; stride *= (*shape)[i--])
      strides_[i] = (*shape)[i] == 1 ? 0 : stride;
  }
  AttentionMask at(const std::byte* mask, int64_t sample, int64_t head, int64_t query) const {
    const auto* first = reinterpret_cast<const uint8_t*>(mask) + sample * strides_[0] +
                        head * strides_[1] + query * strides_[2];
    return {first, strides_[2], strides_[3]};
  }

 private:
  int64_t strides_[4] = {};
};

/// A range of keys that contains every key to which some query may attend; the scores of other keys
/// are not computed.
struct KeyRange {
  int64_t first, count;
};

/// The key range for a mask of `rows` queries and `keys` keys. If a query may attend to no key, the
/// range has all keys, since such a query attends to all keys equally.
KeyRange seen_keys(const AttentionMask& mask, int64_t rows, int64_t keys) {
  if (!mask.first || mask.key != 1) return {0, keys};
  int64_t begin = keys, end = 0;
  for (int64_t i = 0; i < (mask.query ? rows : 1); ++i) {
    const uint8_t* row = mask.first + i * mask.query;
    const auto* first = static_cast<const uint8_t*>(std::memchr(row, 1, keys));
    if (!first) return {0, keys};
    begin = std::min(begin, first - row);
    const void* last = memrchr(row + end, 1, keys - end);
    if (last) end = static_cast<const uint8_t*>(last) + 1 - row;
  }
  // vectors of a row in scratch memory are aligned to this number of elements
  constexpr int64_t kVectorAlignment = 16;
  begin = begin / kVectorAlignment * kVectorAlignment;
  return {begin, end - begin};
}

/// Prefetches rows of a head, which are too short and too far apart for the hardware prefetcher.
template <class T>
void fetch(const T* x, const Heads& heads, int64_t head, int64_t begin, int64_t end) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t step = begin; step < end; ++step) {
    const T* row = x + heads.offset(head, step);
    for (int64_t i = 0; i < heads.width; i += kLine) __builtin_prefetch(row + i, 0, 2);
  }
}

/// Allocates aligned arrays one after another from the scratch memory of the thread.
class ScratchAllocator {
 public:
  explicit ScratchAllocator(size_t bytes) : next_(thread_scratch(bytes)) {}
  template <class V>
  V* take(int64_t count) {
    return reinterpret_cast<V*>(std::exchange(next_, next_ + bytes_of<V>(count)));
  }
  template <class V>
  static size_t bytes_of(int64_t count) {
    return (count * sizeof(V) + 63) / 64 * 64;
  }

 private:
  std::byte* next_;
};

/// The base of the forward and the gradient kernel. T is the type of the tensors, S the type of
/// sums and statistics; `others` is the number of inputs that come before the optional mask.
template <class T, class O>
class AttentionKernel : public Kernel {
 public:
  using S = Computed<T>;

  AttentionKernel(const Request& r, size_t others)
      : query_(r.inputs[0].shape),
        key_(r.inputs[1].shape),
        value_(r.inputs[2].shape),
        context_(r.inputs[0].shape.slice(0, 3).concat({value_.width})),
        scale_(static_cast<S>(static_cast<const O&>(r.op).scale)),
        others_(others),
        masked_(r.inputs.size() > others),
        mask_(masked_ ? &r.inputs[others].shape : nullptr),
        loops_(attention_loops<T>()) {
    block_ = std::min(query_.steps, std::max(kMinBlockQueries, kTargetBlockScores / key_.steps));
    work_ = HeadProducts<T>::work_bytes(std::max(block_, key_.steps),
                                        std::max(query_.width, value_.width));
  }
  std::string name() const override { return HeadProducts<T>::name(); }

 protected:
  using Multiply = const HeadProducts<T>&;

  int64_t blocks() const { return (query_.steps + block_ - 1) / block_; }
  /// The floating-point operations of `products` matrix products per head, of which half have the
  /// size of q k' and half the size of weights v.
  double flops_of(double products) const {
    return products * static_cast<double>(query_.count * query_.steps) *
           static_cast<double>(key_.steps) * static_cast<double>(query_.width + value_.width);
  }
  /// Calls f(multiply, head, number of the block of queries) for all blocks of all heads, in
  /// parallel. `parts_of_head` is the number of blocks of a head.
  template <class F>
  void each_part(const Arguments& a, int64_t parts_of_head, F&& f) const {
    const int64_t parts = query_.count * parts_of_head;
    const auto grain =
        static_cast<int64_t>(kFlopsPerRegion * static_cast<double>(parts) / std::max(flops(), 1.0));
    a.threads.blocks(parts, std::max({grain, parts / kMaxRegionParts, int64_t{1}}),
                     [&](int64_t begin, int64_t end) {
                       const HeadProducts<T> multiply;
                       for (int64_t i = begin; i < end; ++i)
                         f(multiply, i / parts_of_head, i % parts_of_head);
                     });
  }
  AttentionMask mask_of(const Arguments& a, int64_t head, int64_t query) const {
    if (!masked_) return {};
    return mask_.at(a.inputs[others_], head / query_.heads, head % query_.heads, query);
  }
  KeyRange keys_of(const Arguments& a, int64_t head, int64_t query, int64_t rows) const {
    return seen_keys(mask_of(a, head, query), rows, key_.steps);
  }
  /// Computes the scores x = q k' of `rows` queries from `first` on for a range of keys.
  Scores<S> scores(const Arguments& a, Multiply multiply, int64_t head, int64_t first, int64_t rows,
                   KeyRange keys, S* x, std::byte* work) const {
    multiply(HeadProduct<T, T>{false, true, rows, keys.count, query_.width,
                               a.in<T>(0) + query_.offset(head, first), query_.ld(),
                               a.in<T>(1) + key_.offset(head, keys.first), key_.ld(), false, x,
                               keys.count},
             work);
    AttentionMask mask = mask_of(a, head, first);
    if (mask.first) mask.first += keys.first * mask.key;
    return {rows, keys.count, x, scale_, mask};
  }
  /// Calls f(scores of a few rows, index of the first row) until all rows are covered. If a head is
  /// a single block, q, k and v of the next head are prefetched meanwhile.
  template <class F>
  void each_slice(const Arguments& a, int64_t head, const Scores<S>& scores, F&& f) const {
    constexpr int64_t kRows = 4;
    const bool has_next = head + 1 < query_.count && blocks() == 1;
    for (int64_t i = 0; i < scores.rows; i += kRows) {
      const int64_t rows = std::min(kRows, scores.rows - i);
      auto fetch_next = [&](const T* x, const Heads& heads) {
        fetch(x, heads, head + 1, heads.steps * i / scores.rows,
              heads.steps * (i + rows) / scores.rows);
      };
      if (has_next)
        fetch_next(a.in<T>(0), query_), fetch_next(a.in<T>(1), key_),
            fetch_next(a.in<T>(2), value_);
      AttentionMask mask = scores.mask;
      if (mask.first) mask.first += i * mask.query;
      f(Scores<S>{rows, scores.keys, scores.x + i * scores.keys, scores.scale, mask}, i);
    }
  }
  int64_t statistics(int64_t head, int64_t query) const {
    return 2 * (head * query_.steps + query);
  }
  /// The bytes of scratch memory for a part: an array of S for each number in `counts`, and the
  /// memory that matrix products need.
  size_t part_bytes(std::initializer_list<int64_t> counts) const {
    size_t bytes = work_;
    for (int64_t count : counts) bytes += ScratchAllocator::bytes_of<S>(count);
    return bytes;
  }

  Heads query_, key_, value_, context_;
  int64_t block_;
  S scale_;
  size_t others_, work_;
  bool masked_;
  MaskStrides mask_;
  AttentionLoops<T> loops_;
};

template <class T>
class AttentionForward final : public AttentionKernel<T, Attention> {
 public:
  using typename AttentionKernel<T, Attention>::S;

  explicit AttentionForward(const Request& r) : AttentionKernel<T, Attention>(r, 3) {}

  void run(const Arguments& a) const override {
    this->each_part(a, this->blocks(), [&](const auto& multiply, int64_t head, int64_t block) {
      const auto &q = this->query_, &k = this->key_, &v = this->value_;
      const int64_t first = block * this->block_, rows = std::min(this->block_, q.steps - first);
      ScratchAllocator scratch(this->part_bytes({rows * k.steps, k.steps, rows * v.width}));
      S *x = scratch.take<S>(rows * k.steps), *masked = scratch.take<S>(k.steps),
        *mixed = scratch.take<S>(rows * v.width);
      auto* work = scratch.take<std::byte>(0);
      S* statistics = a.out<S>(1) + this->statistics(head, first);
      const KeyRange keys = this->keys_of(a, head, first, rows);
      this->each_slice(a, head, this->scores(a, multiply, head, first, rows, keys, x, work),
                       [&](const Scores<S>& scores, int64_t row) {
                         this->loops_.exponentials(scores, statistics + 2 * row, masked);
                       });
      multiply(
          HeadProduct<S, T>{false, false, rows, v.width, keys.count, x, keys.count,
                            a.in<T>(2) + v.offset(head, keys.first), v.ld(), false, mixed, v.width},
          work);
      this->loops_.divide(mixed, rows, v.width, statistics,
                          a.out<T>(0) + this->context_.offset(head, first), this->context_.ld());
    });
  }
  double flops() const override { return this->flops_of(2); }
};

template <class T>
class AttentionGradient final : public AttentionKernel<T, AttentionBackward> {
 public:
  using typename AttentionKernel<T, AttentionBackward>::S;

  explicit AttentionGradient(const Request& r) : AttentionKernel<T, AttentionBackward>(r, 5) {}

  void run(const Arguments& a) const override {
    this->each_part(
        a, 1, [&](const auto& multiply, int64_t head, int64_t) { run_head(a, multiply, head); });
  }
  double flops() const override { return this->flops_of(5); }

 private:
  static constexpr bool kInPlace = std::is_same_v<S, T>;

  /// The memory in which a gradient is computed for one head: the output itself, or scratch memory
  /// if the output is half-width.
  struct GradientRows {
    S* x;
    int64_t ld;
  };
  static GradientRows part(const Arguments& a, int output, const Heads& heads, int64_t head,
                           int64_t first, S* aside) {
    if constexpr (kInPlace)
      return {a.out<T>(output) + heads.offset(head, first), heads.ld()};
    else
      return {aside, heads.width};
  }
  void store(const Arguments& a, int output, const Heads& heads, int64_t head, int64_t first,
             int64_t rows, GradientRows part) const {
    if constexpr (!kInPlace) {
      this->loops_.divide(part.x, rows, heads.width, nullptr,
                          a.out<T>(output) + heads.offset(head, first), heads.ld());
    }
  }

  static void clear(GradientRows part, int64_t rows, int64_t width) {
    for (int64_t row = 0; row < rows; ++row) std::fill_n(part.x + row * part.ld, width, S{0});
  }

  void run_head(const Arguments& a, const HeadProducts<T>& multiply, int64_t head) const {
    const auto &q = this->query_, &k = this->key_, &v = this->value_, &context = this->context_;
    const int64_t most = this->block_, keys = k.steps, aside = kInPlace ? 0 : 1;
    ScratchAllocator scratch(
        this->part_bytes({most * keys, most * keys, keys, aside * most * q.width,
                          aside * keys * k.width, aside * keys * v.width}));
    S *w = scratch.take<S>(most * keys), *dw = scratch.take<S>(most * keys),
      *masked = scratch.take<S>(keys);
    S* dq_aside = scratch.take<S>(aside * most * q.width);
    const GradientRows dk = part(a, 1, k, head, 0, scratch.take<S>(aside * keys * k.width));
    const GradientRows dv = part(a, 2, v, head, 0, scratch.take<S>(aside * keys * v.width));
    auto* work = scratch.take<std::byte>(0);
    if (this->masked_) clear(dk, keys, k.width), clear(dv, keys, v.width);

    for (int64_t first = 0; first < q.steps; first += most) {
      const int64_t rows = std::min(most, q.steps - first);
      const KeyRange seen = this->keys_of(a, head, first, rows);
      const T *key = a.in<T>(1) + k.offset(head, seen.first),
              *value = a.in<T>(2) + v.offset(head, seen.first);
      S *dk_seen = dk.x + seen.first * dk.ld, *dv_seen = dv.x + seen.first * dv.ld;
      const bool add = this->masked_ || first > 0;
      const T *query = a.in<T>(0) + q.offset(head, first),
              *dy = a.in<T>(4) + context.offset(head, first);
      const GradientRows dq = part(a, 0, q, head, first, dq_aside);
      const Scores<S> weights = this->scores(a, multiply, head, first, rows, seen, w, work);
      const S* statistics = a.in<S>(3) + this->statistics(head, first);
      this->each_slice(a, head, weights, [&](const Scores<S>& scores, int64_t row) {
        this->loops_.weights(scores, statistics + 2 * row, masked);
      });
      multiply(HeadProduct<S, T>{true, false, seen.count, v.width, rows, w, seen.count, dy,
                                 context.ld(), add, dv_seen, dv.ld},
               work);
      multiply(HeadProduct<T, T>{false, true, rows, seen.count, v.width, dy, context.ld(), value,
                                 v.ld(), false, dw, seen.count},
               work);
      this->loops_.gradient(weights, dw);
      multiply(HeadProduct<S, T>{false, false, rows, q.width, seen.count, dw, seen.count, key,
                                 k.ld(), false, dq.x, dq.ld},
               work);
      multiply(HeadProduct<S, T>{true, false, seen.count, q.width, rows, dw, seen.count, query,
                                 q.ld(), add, dk_seen, dk.ld},
               work);
      store(a, 0, q, head, first, rows, dq);
    }
    store(a, 1, k, head, 0, keys, dk);
    store(a, 2, v, head, 0, keys, dv);
  }
};

template <template <class> class K, class T>
std::unique_ptr<Kernel> make(const Request& r) {
  const bool is_empty = r.inputs[0].shape.size() == 0;
  return HeadProducts<T>::is_available() && !is_empty ? std::make_unique<K<T>>(r) : nullptr;
}

template <template <class> class K>
std::unique_ptr<Kernel> make(const Request& r) {
  switch (r.inputs[0].dtype) {
    case DType::float32:
      return make<K, float>(r);
    case DType::float64:
      return make<K, double>(r);
    case DType::bfloat16:
      return make<K, BFloat16>(r);
    default:
      return nullptr;
  }
}

}  // namespace

std::span<const KernelRow> attention_kernels() {
  static constexpr KernelFactory kThroughFloat32 = make_converted<attention_kernels>;
  static constexpr KernelRow kRows[] = {{"attention", make<AttentionForward>},
                                        {"attention", kThroughFloat32},
                                        {"attention_backward", make<AttentionGradient>},
                                        {"attention_backward", kThroughFloat32}};
  return kRows;
}

}  // namespace crescent::cpu
