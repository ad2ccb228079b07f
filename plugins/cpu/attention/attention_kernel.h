// The base of the attention kernels. A head is computed in blocks of queries and tiles of keys:
// scores are never written to memory, only to the thread's scratch buffers, which do not grow with
// the number of keys.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "attention/attention.h"
#include "attention/attention_products.h"
#include "kernel/kernel.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {

/// The largest number of keys per tile.
inline constexpr int64_t kTileKeys = 512;
/// The number of scores per tile, if a block then has more than kMinBlockQueries queries.
inline constexpr int64_t kTargetTileScores = 1 << 15;
/// The fewest queries per block, except in the last one.
inline constexpr int64_t kMinBlockQueries = 64;

/// If there are fewer heads than this, each head is divided into parts, so that all heads together
/// have about this number of parts.
inline constexpr int64_t kTargetParts = 16;

/// A tensor such as q, k or v of shape (batch, steps, heads, head_size). A head of a sample is a
/// matrix of `steps` rows; heads are numbered over all samples.
struct Heads {
  explicit Heads(const Shape& shape)
      : steps(shape[1]), heads(shape[2]), head_size(shape[3]), head_count(shape[0] * heads) {}
  int64_t ld() const { return heads * head_size; }
  int64_t offset(int64_t head, int64_t step = 0) const {
    return ((head / heads * steps + step) * heads + head % heads) * head_size;
  }
  int64_t steps, heads, head_size;
  int64_t head_count;  ///< the heads of all samples
};

/// A range of queries or keys.
struct StepRange {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};
inline StepRange intersection(StepRange a, StepRange b) {
  const int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// Which query may attend to which key: a mask of bytes, if there is one, and the rule of causal
/// attention that query i attends only to keys up to i.
class Visibility {
 public:
  Visibility(const Shape* mask, bool causal) : has_mask_(mask != nullptr), is_causal_(causal) {
    int64_t stride = 1;
    for (int i = 3; mask && i >= 0; stride *= (*mask)[i--])
      strides_[i] = (*mask)[i] == 1 ? 0 : stride;
  }
  /// Whether some query may not attend to some key.
  bool is_partial() const { return has_mask_ || is_causal_; }
  bool is_masked() const { return has_mask_; }
  bool is_causal() const { return is_causal_; }

  AttentionMask mask_at(const std::byte* mask, int64_t sample, int64_t head, int64_t query,
                        int64_t key) const {
    if (!has_mask_) return {};
    const auto* first = reinterpret_cast<const uint8_t*>(mask) + sample * strides_[0] +
                        head * strides_[1] + query * strides_[2] + key * strides_[3];
    return {first, strides_[2], strides_[3]};
  }
  /// A range of keys that contains every key to which some of the queries may attend; the scores of
  /// other keys are not computed. If a query may attend to no key, the range has all keys, since
  /// such a query attends to all keys equally. `mask` is that of the first query.
  StepRange visible_keys(const AttentionMask& mask, StepRange queries, int64_t keys) const {
    const StepRange all_keys{0, keys};
    if (!mask.first) return {0, limit(queries.end - 1, keys)};
    StepRange visible{keys, 0};
    const bool is_same_for_queries = mask.query_stride == 0 && !is_causal_;
    for (int64_t i = queries.begin; i < (is_same_for_queries ? queries.begin + 1 : queries.end);
         ++i) {
      const uint8_t* row = mask.first + (i - queries.begin) * mask.query_stride;
      const int64_t max_keys = limit(i, keys);
      if (mask.key_stride == 0) {
        if (!*row) return all_keys;
        visible = {0, max_keys};
        continue;
      }
      const auto* first = static_cast<const uint8_t*>(std::memchr(row, 1, max_keys));
      if (!first) return all_keys;
      visible.begin = std::min(visible.begin, first - row);
      if (visible.end >= max_keys) continue;
      const void* last = memrchr(row + visible.end, 1, max_keys - visible.end);
      if (last) visible.end = static_cast<const uint8_t*>(last) + 1 - row;
    }
    return visible;
  }

 private:
  /// The number of keys to which query i may attend if the mask lets it.
  int64_t limit(int64_t query, int64_t keys) const {
    return is_causal_ ? std::min(query + 1, keys) : keys;
  }

  bool has_mask_, is_causal_;
  int64_t strides_[4] = {};
};

/// Prefetches rows of a head, which are too short and too far apart for the hardware prefetcher.
template <class T>
void prefetch_rows(const T* x, const Heads& heads, int64_t head, int64_t begin, int64_t end) {
  constexpr int64_t kCacheLine = 64 / sizeof(T);
  for (int64_t step = begin; step < end; ++step) {
    const T* row = x + heads.offset(head, step);
    for (int64_t i = 0; i < heads.head_size; i += kCacheLine) __builtin_prefetch(row + i, 0, 2);
  }
}

/// Assigns memory to arrays, one after another in scratch memory. Without memory it only adds up
/// the sizes of the arrays.
class ScratchArrays {
 public:
  explicit ScratchArrays(std::byte* memory = nullptr) : scratch_(memory) {}
  template <class V>
  V* assign(int64_t count) {
    const size_t offset = std::exchange(bytes_, bytes_ + (count * sizeof(V) + 63) / 64 * 64);
    return scratch_ ? reinterpret_cast<V*>(scratch_ + offset) : nullptr;
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* scratch_;
  size_t bytes_ = 0;
};

/// The base of the forward and the gradient kernel. T is the type of the tensors, S the type of
/// sums and statistics; `mask_input` is the index that the mask has among the inputs, if there is
/// one.
template <class T, class O>
class AttentionKernel : public Kernel {
 public:
  using S = ComputeType<T>;

  AttentionKernel(const Request& r, size_t mask_input)
      : query_(r.inputs[0].shape),
        key_(r.inputs[1].shape),
        value_(r.inputs[2].shape),
        context_(r.inputs[0].shape.slice(0, 3).concat({value_.head_size})),
        scale_(static_cast<S>(static_cast<const O&>(r.op).scale)),
        dropout_(static_cast<const O&>(r.op).dropout),
        first_weight_(static_cast<const O&>(r.op).first_row * query_.heads * query_.steps *
                      key_.steps),
        mask_input_(mask_input),
        state_input_(r.inputs.size() - (dropout_ > 0 ? 1 : 0)),
        visibility_(state_input_ > mask_input ? &r.inputs[mask_input].shape : nullptr,
                    static_cast<const O&>(r.op).causal),
        loops_(attention_loops<T>()),
        tile_keys_(std::min(kTileKeys, key_.steps)),
        block_queries_(
            std::min(query_.steps, std::max(kMinBlockQueries, kTargetTileScores / tile_keys_))),
        tile_count_(pieces(key_.steps, tile_keys_)),
        block_count_(pieces(query_.steps, block_queries_)),
        work_bytes_(HeadProducts<T>::work_bytes(std::max(block_queries_, tile_keys_),
                                                std::max(query_.head_size, value_.head_size))) {}
  std::string name() const override { return HeadProducts<T>::name(); }

 protected:
  using Multiply = HeadProducts<T>;

  StepRange block(int64_t index) const {
    return {index * block_queries_, std::min((index + 1) * block_queries_, query_.steps)};
  }
  StepRange tile(int64_t index) const {
    return {index * tile_keys_, std::min((index + 1) * tile_keys_, key_.steps)};
  }
  /// The floating-point operations of `products` matrix products per head: half of them have the
  /// size of the product q k', half that of the product of the attention weights with v.
  double flops_of(double products) const {
    const auto queries = static_cast<double>(query_.steps), keys = static_cast<double>(key_.steps);
    const double square = std::min(queries, keys);
    const double pairs = visibility_.is_causal()
                             ? queries * keys - square * (2 * keys - square - 1) / 2
                             : queries * keys;
    return products * static_cast<double>(query_.head_count) * pairs *
           static_cast<double>(query_.head_size + value_.head_size);
  }
  /// Calls f(multiply, head, part) for all parts of all heads, in parallel.
  template <class F>
  void for_each_part(const Arguments& a, int64_t parts_of_head, F&& f) const {
    // The largest number of tasks is small so that a thread computes neighbouring heads.
    constexpr int64_t kMaxTasks = 32;
    constexpr double kFlopsPerTask = 100e3;
    const int64_t parts = query_.head_count * parts_of_head;
    const auto grain =
        static_cast<int64_t>(kFlopsPerTask * static_cast<double>(parts) / std::max(flops(), 1.0));
    a.threads.blocks(parts, std::max({grain, parts / kMaxTasks, int64_t{1}}),
                     [&](int64_t begin, int64_t end) {
                       const Multiply multiply;
                       for (int64_t i = begin; i < end; ++i)
                         f(multiply, i / parts_of_head, i % parts_of_head);
                     });
  }
  AttentionMask mask_of(const Arguments& a, int64_t head, int64_t query, int64_t key) const {
    return visibility_.mask_at(visibility_.is_masked() ? a.inputs[mask_input_] : nullptr,
                               head / query_.heads, head % query_.heads, query, key);
  }
  StepRange keys_of(const Arguments& a, int64_t head, StepRange queries) const {
    return visibility_.visible_keys(mask_of(a, head, queries.begin, 0), queries, key_.steps);
  }
  /// The keys of a tile whose scores are computed for a block that attends to the keys `visible`.
  /// The range is extended to multiples of kPackedRows, because products read packed rows in such
  /// units.
  static StepRange keys_in_tile(StepRange tile, StepRange visible) {
    const StepRange part = intersection(tile, visible);
    if (part.count() == 0) return part;
    const int64_t begin_offset = part.begin - tile.begin, end_offset = part.end - tile.begin;
    return {tile.begin + begin_offset / kPackedRows * kPackedRows,
            std::min(tile.end, tile.begin + pieces(end_offset, kPackedRows) * kPackedRows)};
  }
  /// Rows of a tile of k or v, which are also packed if several blocks of queries read them.
  struct TileRows {
    StridedRows<const T> rows;
    const T* packed_rows;
  };
  TileRows tile_rows(const Multiply& multiply, StridedRows<const T> rows, bool packs,
                     T* packed) const {
    if (!packs) return {rows, nullptr};
    multiply.pack(rows.x, rows.rows, rows.columns, rows.ld, packed);
    return {rows, packed};
  }
  /// Multiplies x by the transpose of `count` rows of a tile from `first` on.
  static void multiply_transposed(const Multiply& multiply, StridedRows<const T> x,
                                  const TileRows& tile, int64_t first, int64_t count, S* result,
                                  std::byte* work) {
    HeadProduct<T, T> p{false, true, x.rows, count, x.columns, x.x, x.ld};
    p.b = tile.packed_rows ? tile.packed_rows + Multiply::packed_values(first, x.columns)
                           : tile.rows.x + first * tile.rows.ld;
    p.ldb = tile.rows.ld, p.c = result, p.ldc = count, p.is_packed = tile.packed_rows != nullptr;
    multiply(p, work);
  }
  ScoreTile<S> score_tile(const Arguments& a, int64_t head, StepRange queries, StepRange keys,
                          S* x) const {
    const bool causal = visibility_.is_causal();
    return {queries.count(),
            keys.count(),
            x,
            scale_,
            mask_of(a, head, queries.begin, keys.begin),
            causal ? queries.begin + 1 - keys.begin : keys.count(),
            causal ? 1 : 0};
  }
  /// Calls f(slice, first) for slices of the tile that together cover all of its queries; `slice`
  /// has the scores of a few queries, `first` is the index of its first query. If a head is a
  /// single block, q, k and v of the next head are prefetched meanwhile.
  template <class F>
  void for_each_slice(const Arguments& a, int64_t head, const ScoreTile<S>& tile, F&& f) const {
    const bool has_next = head + 1 < query_.head_count && block_count_ == 1 && tile_count_ == 1;
    for (int64_t i = 0; i < tile.rows; i += kSliceRows) {
      const int64_t rows = std::min(kSliceRows, tile.rows - i);
      auto fetch_next = [&](const T* x, const Heads& heads) {
        prefetch_rows(x, heads, head + 1, heads.steps * i / tile.rows,
                      heads.steps * (i + rows) / tile.rows);
      };
      if (has_next)
        fetch_next(a.in<T>(0), query_), fetch_next(a.in<T>(1), key_),
            fetch_next(a.in<T>(2), value_);
      f(tile.slice_rows(i, rows), i);
    }
  }
  /// The dropout of the weights of a few queries and the keys of a tile.
  class SliceDropout {
   public:
    SliceDropout(const AttentionKernel& kernel, const Arguments& a, int64_t head, StepRange queries,
                 StepRange keys)
        : kernel_(kernel), weight_count_(kernel.dropout_ > 0 ? queries.count() * keys.count() : 0) {
      if (weight_count_ == 0) return;
      const auto* state = a.in<int64_t>(static_cast<int>(kernel_.state_input_));
      const auto min_fraction =
          static_cast<uint32_t>(std::ceil(static_cast<float>(kernel_.dropout_) * 0x1p24));
      const WeightDraw draw{state[0], state[1], min_fraction};
      const int64_t key_count = kernel_.key_.steps, count = keys.count();
      const int64_t first = kernel_.first_weight_ +
                            (head * kernel_.query_.steps + queries.begin) * key_count + keys.begin;
      const int64_t rows = count == key_count ? 1 : queries.count(),
                    count_per_row = weight_count_ / rows;
      for (int64_t i = 0; i < rows; ++i)
        kernel_.loops_.find_kept(draw, first + i * key_count, count_per_row,
                                 is_kept_ + i * count_per_row);
    }
    /// Drops weights, or their gradients.
    void apply(S* x) const {
      if (weight_count_ > 0)
        kernel_.loops_.drop_weights(is_kept_, weight_count_,
                                    static_cast<S>(1 / (1 - kernel_.dropout_)), x);
    }

   private:
    const AttentionKernel& kernel_;
    int64_t weight_count_;
    uint8_t is_kept_[kSliceRows * kTileKeys];
  };
  int64_t statistics_offset(int64_t head, int64_t query) const {
    return 2 * (head * query_.steps + query);
  }
  /// The rows `steps` of a head of x.
  template <class V>
  static StridedRows<V> rows_of(V* x, const Heads& heads, int64_t head, StepRange steps) {
    return {x + heads.offset(head, steps.begin), steps.count(), heads.head_size, heads.ld()};
  }

  Heads query_, key_, value_, context_;
  S scale_;
  double dropout_;
  int64_t first_weight_;  ///< the element of the draw that belongs to the first weight
  size_t mask_input_;     ///< the index of the mask among the inputs
  size_t state_input_;    ///< the index of the random state among the inputs
  Visibility visibility_;
  AttentionLoops<T> loops_;
  int64_t tile_keys_;      ///< the largest number of keys of a tile
  int64_t block_queries_;  ///< the largest number of queries of a block
  int64_t tile_count_;     ///< the number of tiles of a head
  int64_t block_count_;    ///< the number of blocks of a head
  size_t work_bytes_;      ///< the bytes of scratch memory that matrix products need
};

/// Kernels of class K for the dtypes that it supports.
template <template <class> class K, class T>
std::unique_ptr<Kernel> make_attention(const Request& r) {
  const bool is_empty = r.inputs[0].shape.size() == 0;
  return HeadProducts<T>::is_available() && !is_empty ? std::make_unique<K<T>>(r) : nullptr;
}
template <template <class> class K>
std::unique_ptr<Kernel> make_attention(const Request& r) {
  switch (r.inputs[0].dtype) {
    case DType::float32:
      return make_attention<K, float>(r);
    case DType::float64:
      return make_attention<K, double>(r);
    case DType::bfloat16:
      return make_attention<K, BFloat16>(r);
    default:
      return nullptr;
  }
}

std::unique_ptr<Kernel> make_attention_gradient(const Request& r);

}  // namespace crescent::cpu
