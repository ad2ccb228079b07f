// The gradient of attention, which computes the scores again. The work is divided into parts, each
// a range of keys of one head of one sample. Each part has its own sums for the gradients of the
// queries, which are added up in the order of the parts, so that the bits do not depend on the
// number of threads.
#include "attention/attention_kernel.h"

namespace crescent::cpu {
namespace {

template <class T>
class AttentionGradient final : public AttentionKernel<T, AttentionBackward> {
 public:
  using Base = AttentionKernel<T, AttentionBackward>;
  using typename Base::S;
  using typename Base::TileRows;

  explicit AttentionGradient(const Request& r) : Base(r, 6) {
    const int64_t target_parts = pieces(kTargetParts, this->query_.head_count);
    tiles_per_part_ = pieces(this->tile_count_, target_parts);
    parts_per_head_ = pieces(this->tile_count_, tiles_per_part_);
    ScratchArrays arrays;
    scratch_of(arrays);
    thread_scratch_bytes_ = arrays.bytes();
  }
  void run(const Arguments& a) const override {
    this->for_each_part(a, parts_per_head_, [&](const auto& multiply, int64_t head, int64_t part) {
      const int64_t first = part * tiles_per_part_;
      Task(*this, a, multiply, head, part)
          .run({first, std::min(first + tiles_per_part_, this->tile_count_)});
    });
    if (parts_per_head_ > 1) add_parts(a);
  }
  size_t scratch_bytes() const override {
    return parts_per_head_ > 1
               ? this->query_.head_count * parts_per_head_ * query_values() * sizeof(S)
               : 0;
  }
  double flops() const override { return this->flops_of(5); }

 private:
  static constexpr bool kInPlace = std::is_same_v<S, T>;

  int64_t query_values() const { return this->query_.steps * this->query_.head_size; }

  struct Scratch {
    T *key, *value;  ///< the packed keys and values of a tile
    S *w, *dw;       ///< the weights of a tile and their gradients
    /// The gradients of all queries, and those of the keys and values of a tile, before they are
    /// converted; no memory is reserved for gradients that are computed directly in the outputs.
    S *dq, *dk, *dv;
    S* means;                 ///< for each query the mean of the gradients of its weights, or null
    StepRange* visible_keys;  ///< the keys to which each block attends
    std::byte* work;
  };
  Scratch scratch_of(ScratchArrays& arrays) const {
    const int64_t tile = this->tile_keys_, keys = this->key_.head_size,
                  values = this->value_.head_size;
    Scratch s;
    s.key = arrays.assign<T>(HeadProducts<T>::packed_values(tile, keys));
    s.value = arrays.assign<T>(HeadProducts<T>::packed_values(tile, values));
    s.w = arrays.assign<S>(this->block_queries_ * tile);
    s.dw = arrays.assign<S>(this->block_queries_ * tile);
    s.dq = arrays.assign<S>(kInPlace || parts_per_head_ > 1 ? 0 : query_values());
    s.dk = arrays.assign<S>(kInPlace ? 0 : tile * keys);
    s.dv = arrays.assign<S>(kInPlace ? 0 : tile * values);
    s.means = this->tile_count_ > 1 ? arrays.assign<S>(this->query_.steps) : nullptr;
    s.visible_keys = arrays.assign<StepRange>(this->block_count_);
    s.work = arrays.assign<std::byte>(static_cast<int64_t>(this->work_bytes_));
    return s;
  }
  S* part_of_scratch(const Arguments& a, int64_t head, int64_t part) const {
    return reinterpret_cast<S*>(a.scratch) + (head * parts_per_head_ + part) * query_values();
  }

  /// Computes the gradients of the keys and values in one part of a head, on one thread.
  class Task {
   public:
    Task(const AttentionGradient& kernel, const Arguments& a, const HeadProducts<T>& multiply,
         int64_t head, int64_t part)
        : kernel_(kernel), a_(a), multiply_(multiply), head_(head) {
      ScratchArrays arrays(thread_scratch(kernel_.thread_scratch_bytes_));
      scratch_ = kernel_.scratch_of(arrays);
      dq_ = gradient_rows(0, kernel_.query_, {0, kernel_.query_.steps}, scratch_.dq);
      if (kernel_.parts_per_head_ > 1)
        dq_.x = kernel_.part_of_scratch(a, head, part), dq_.ld = kernel_.query_.head_size;
    }
    /// Computes the gradients of the keys and values of some tiles.
    void run(StepRange tiles) const {
      for (int64_t i = 0; i < kernel_.block_count_; ++i)
        scratch_.visible_keys[i] = kernel_.keys_of(a_, head_, kernel_.block(i));
      const StepRange queries{0, kernel_.query_.steps};
      if (kernel_.tile_count_ > 1)
        kernel_.loops_.row_dots(
            kernel_.rows_of(a_.template in<T>(5), kernel_.context_, head_, queries),
            kernel_.rows_of(a_.template in<T>(3), kernel_.context_, head_, queries).x,
            scratch_.means);
      if (kernel_.visibility_.is_partial()) clear(dq_);
      for (int64_t t = tiles.begin; t < tiles.end; ++t) run_tile(kernel_.tile(t), t == tiles.begin);
      if (kernel_.parts_per_head_ == 1) store(dq_, 0, kernel_.query_, queries);
    }

   private:
    /// The memory in which the gradient of some rows is computed: the output itself or, if it has
    /// half width, scratch memory.
    StridedRows<S> gradient_rows(int output, const Heads& heads, StepRange steps,
                                 S* scratch) const {
      if constexpr (kInPlace)
        return kernel_.rows_of(a_.template out<T>(output), heads, head_, steps);
      else
        return {scratch, steps.count(), heads.head_size, heads.head_size};
    }
    void store(const StridedRows<S>& rows, int output, const Heads& heads, StepRange steps) const {
      if constexpr (!kInPlace)
        kernel_.loops_.divide(rows.x, nullptr,
                              kernel_.rows_of(a_.template out<T>(output), heads, head_, steps));
    }
    static void clear(const StridedRows<S>& rows) {
      for (int64_t i = 0; i < rows.rows; ++i) std::fill_n(rows.x + i * rows.ld, rows.columns, S{0});
    }
    void run_tile(StepRange tile, bool is_first) const {
      const TileRows keys = rows_of_tile(1, kernel_.key_, tile, scratch_.key),
                     values = rows_of_tile(2, kernel_.value_, tile, scratch_.value);
      const StridedRows<S> dk = gradient_rows(1, kernel_.key_, tile, scratch_.dk),
                           dv = gradient_rows(2, kernel_.value_, tile, scratch_.dv);
      if (kernel_.visibility_.is_partial()) clear(dk), clear(dv);
      for (int64_t i = 0; i < kernel_.block_count_; ++i) {
        const StepRange part = kernel_.keys_in_tile(tile, scratch_.visible_keys[i]);
        if (part.count() > 0)
          run_block(kernel_.block(i), tile, part, keys, values, dk, dv, is_first);
      }
      store(dk, 1, kernel_.key_, tile), store(dv, 2, kernel_.value_, tile);
    }
    TileRows rows_of_tile(int input, const Heads& heads, StepRange tile, T* packed) const {
      return kernel_.tile_rows(multiply_,
                               kernel_.rows_of(a_.template in<T>(input), heads, head_, tile),
                               kernel_.block_count_ > 1, packed);
    }
    /// Adds the contributions of a block of queries and the keys `part` of a tile to the gradients.
    void run_block(StepRange block, StepRange tile, StepRange part, const TileRows& keys,
                   const TileRows& values, const StridedRows<S>& dk, const StridedRows<S>& dv,
                   bool is_first) const {
      const auto q = kernel_.rows_of(a_.template in<T>(0), kernel_.query_, head_, block);
      const auto dy = kernel_.rows_of(a_.template in<T>(5), kernel_.context_, head_, block);
      const int64_t count = part.count(), first_key = part.begin - tile.begin;
      kernel_.multiply_transposed(multiply_, q, keys, first_key, count, scratch_.w, scratch_.work);
      kernel_.multiply_transposed(multiply_, dy, values, first_key, count, scratch_.dw,
                                  scratch_.work);
      replace_products(block, part);
      const bool is_partial = kernel_.visibility_.is_partial(),
                 accumulates = is_partial || block.begin > 0;
      multiply_(HeadProduct<S, T>{true, false, count, dy.columns, dy.rows, scratch_.w, count, dy.x,
                                  dy.ld, accumulates, dv.x + first_key * dv.ld, dv.ld},
                scratch_.work);
      multiply_(HeadProduct<S, T>{true, false, count, q.columns, q.rows, scratch_.dw, count, q.x,
                                  q.ld, accumulates, dk.x + first_key * dk.ld, dk.ld},
                scratch_.work);
      multiply_(HeadProduct<S, T>{false, false, q.rows, q.columns, count, scratch_.dw, count,
                                  keys.rows.x + first_key * keys.rows.ld, keys.rows.ld,
                                  is_partial || !is_first, dq_.x + block.begin * dq_.ld, dq_.ld},
                scratch_.work);
    }
    /// Replaces the products q k' by the attention weights after dropout, and the gradients of the
    /// weights by those of the products.
    void replace_products(StepRange block, StepRange keys) const {
      const S* statistics = a_.template in<S>(4) + kernel_.statistics_offset(head_, block.begin);
      kernel_.for_each_slice(a_, head_, kernel_.score_tile(a_, head_, block, keys, scratch_.w),
                             [&](const ScoreTile<S>& slice, int64_t row) {
                               const int64_t query = block.begin + row;
                               const typename Base::SliceDropout dropout(
                                   kernel_, a_, head_, {query, query + slice.rows}, keys);
                               S* dw = scratch_.dw + row * keys.count();
                               dropout.apply(dw);
                               kernel_.loops_.gradient(
                                   slice, statistics + 2 * row,
                                   scratch_.means ? scratch_.means + query : nullptr, dw);
                               dropout.apply(slice.x);
                             });
    }

    const AttentionGradient& kernel_;
    const Arguments& a_;
    const HeadProducts<T>& multiply_;
    int64_t head_;
    Scratch scratch_;
    StridedRows<S> dq_;
  };

  /// Adds up the gradients of the queries that the parts have computed.
  void add_parts(const Arguments& a) const {
    this->for_each_part(a, this->block_count_, [&](const auto&, int64_t head, int64_t index) {
      const StepRange block = this->block(index);
      const int64_t first = block.begin * this->query_.head_size;
      S* sum = part_of_scratch(a, head, 0) + first;
      for (int64_t part = 1; part < parts_per_head_; ++part)
        this->loops_.add(part_of_scratch(a, head, part) + first,
                         block.count() * this->query_.head_size, sum);
      this->loops_.divide(sum, nullptr, this->rows_of(a.out<T>(0), this->query_, head, block));
    });
  }

  int64_t tiles_per_part_;  ///< the number of tiles of a part
  int64_t parts_per_head_;  ///< the number of parts of a head
  size_t thread_scratch_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> make_attention_gradient(const Request& r) {
  return make_attention<AttentionGradient>(r);
}

}  // namespace crescent::cpu
