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
    part_tiles_ = pieces(this->tile_count_, target_parts);
    parts_ = pieces(this->tile_count_, part_tiles_);
    ScratchArrays arrays;
    scratch_of(arrays);
    bytes_ = arrays.bytes();
  }
  void run(const Arguments& a) const override {
    this->each_part(a, parts_, [&](const auto& multiply, int64_t head, int64_t part) {
      const int64_t first = part * part_tiles_;
      Task(*this, a, multiply, head, part)
          .run({first, std::min(first + part_tiles_, this->tile_count_)});
    });
    if (parts_ > 1) add_parts(a);
  }
  size_t scratch_bytes() const override {
    return parts_ > 1 ? this->query_.head_count * parts_ * query_values() * sizeof(S) : 0;
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
    S* means;         ///< for each query the mean of the gradients of its weights, or null
    StepRange* seen;  ///< the keys to which each block attends
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
    s.dq = arrays.assign<S>(kInPlace || parts_ > 1 ? 0 : query_values());
    s.dk = arrays.assign<S>(kInPlace ? 0 : tile * keys);
    s.dv = arrays.assign<S>(kInPlace ? 0 : tile * values);
    s.means = this->tile_count_ > 1 ? arrays.assign<S>(this->query_.steps) : nullptr;
    s.seen = arrays.assign<StepRange>(this->block_count_);
    s.work = arrays.assign<std::byte>(static_cast<int64_t>(this->work_));
    return s;
  }
  S* part_of_scratch(const Arguments& a, int64_t head, int64_t part) const {
    return reinterpret_cast<S*>(a.scratch) + (head * parts_ + part) * query_values();
  }

  /// Computes the gradients of the keys and values in one part of a head, on one thread.
  class Task {
   public:
    Task(const AttentionGradient& kernel, const Arguments& a, const HeadProducts<T>& multiply,
         int64_t head, int64_t part)
        : k_(kernel), a_(a), multiply_(multiply), head_(head) {
      ScratchArrays arrays(thread_scratch(k_.bytes_));
      s_ = k_.scratch_of(arrays);
      dq_ = target(0, k_.query_, {0, k_.query_.steps}, s_.dq);
      if (k_.parts_ > 1) dq_.x = k_.part_of_scratch(a, head, part), dq_.ld = k_.query_.head_size;
    }
    /// Computes the gradients of the keys and values of some tiles.
    void run(StepRange tiles) const {
      for (int64_t i = 0; i < k_.block_count_; ++i) s_.seen[i] = k_.keys_of(a_, head_, k_.block(i));
      const StepRange queries{0, k_.query_.steps};
      if (k_.tile_count_ > 1)
        k_.loops_.dots(k_.rows_of(a_.template in<T>(5), k_.context_, head_, queries),
                       k_.rows_of(a_.template in<T>(3), k_.context_, head_, queries).x, s_.means);
      if (k_.visible_.is_partial()) clear(dq_);
      for (int64_t t = tiles.begin; t < tiles.end; ++t) run_tile(k_.tile(t), t == tiles.begin);
      if (k_.parts_ == 1) store(dq_, 0, k_.query_, queries);
    }

   private:
    /// The memory in which the gradient of some rows is computed: the output itself or, if it has
    /// half width, scratch memory.
    RowsOf<S> target(int output, const Heads& heads, StepRange steps, S* scratch) const {
      if constexpr (kInPlace)
        return k_.rows_of(a_.template out<T>(output), heads, head_, steps);
      else
        return {scratch, steps.count(), heads.head_size, heads.head_size};
    }
    void store(const RowsOf<S>& rows, int output, const Heads& heads, StepRange steps) const {
      if constexpr (!kInPlace)
        k_.loops_.divide(rows.x, nullptr,
                         k_.rows_of(a_.template out<T>(output), heads, head_, steps));
    }
    static void clear(const RowsOf<S>& rows) {
      for (int64_t i = 0; i < rows.rows; ++i) std::fill_n(rows.x + i * rows.ld, rows.columns, S{0});
    }
    void run_tile(StepRange tile, bool is_first) const {
      const TileRows keys = rows_of_tile(1, k_.key_, tile, s_.key),
                     values = rows_of_tile(2, k_.value_, tile, s_.value);
      const RowsOf<S> dk = target(1, k_.key_, tile, s_.dk), dv = target(2, k_.value_, tile, s_.dv);
      if (k_.visible_.is_partial()) clear(dk), clear(dv);
      for (int64_t i = 0; i < k_.block_count_; ++i) {
        const StepRange part = k_.part_of_tile(tile, s_.seen[i]);
        if (part.count() > 0) run_block(k_.block(i), tile, part, keys, values, dk, dv, is_first);
      }
      store(dk, 1, k_.key_, tile), store(dv, 2, k_.value_, tile);
    }
    TileRows rows_of_tile(int input, const Heads& heads, StepRange tile, T* packed) const {
      return k_.tile_rows(multiply_, k_.rows_of(a_.template in<T>(input), heads, head_, tile),
                          k_.block_count_ > 1, packed);
    }
    /// Adds to the gradients what a block of queries contributes by its scores for the keys `part`
    /// of a tile.
    void run_block(StepRange block, StepRange tile, StepRange part, const TileRows& keys,
                   const TileRows& values, const RowsOf<S>& dk, const RowsOf<S>& dv,
                   bool is_first) const {
      const auto q = k_.rows_of(a_.template in<T>(0), k_.query_, head_, block);
      const auto dy = k_.rows_of(a_.template in<T>(5), k_.context_, head_, block);
      const int64_t count = part.count(), at = part.begin - tile.begin;
      k_.multiply_transposed(multiply_, q, keys, at, count, s_.w, s_.work);
      k_.multiply_transposed(multiply_, dy, values, at, count, s_.dw, s_.work);
      replace_products(block, part);
      const bool partial = k_.visible_.is_partial(), add = partial || block.begin > 0;
      multiply_(HeadProduct<S, T>{true, false, count, dy.columns, dy.rows, s_.w, count, dy.x, dy.ld,
                                  add, dv.x + at * dv.ld, dv.ld},
                s_.work);
      multiply_(HeadProduct<S, T>{true, false, count, q.columns, q.rows, s_.dw, count, q.x, q.ld,
                                  add, dk.x + at * dk.ld, dk.ld},
                s_.work);
      multiply_(HeadProduct<S, T>{false, false, q.rows, q.columns, count, s_.dw, count,
                                  keys.rows.x + at * keys.rows.ld, keys.rows.ld,
                                  partial || !is_first, dq_.x + block.begin * dq_.ld, dq_.ld},
                s_.work);
    }
    /// Replaces the products q k' by the attention weights after dropout, and the gradients of the
    /// weights by those of the products.
    void replace_products(StepRange block, StepRange keys) const {
      const S* statistics = a_.template in<S>(4) + k_.statistics(head_, block.begin);
      k_.each_slice(a_, head_, k_.score_tile(a_, head_, block, keys, s_.w),
                    [&](const ScoreTile<S>& slice, int64_t row) {
                      const int64_t query = block.begin + row;
                      const typename Base::SliceDropout dropout(k_, a_, head_,
                                                                {query, query + slice.rows}, keys);
                      S* dw = s_.dw + row * keys.count();
                      dropout.apply(dw);
                      k_.loops_.gradient(slice, statistics + 2 * row,
                                         s_.means ? s_.means + query : nullptr, dw);
                      dropout.apply(slice.x);
                    });
    }

    const AttentionGradient& k_;
    const Arguments& a_;
    const HeadProducts<T>& multiply_;
    int64_t head_;
    Scratch s_;
    RowsOf<S> dq_;
  };

  /// Adds up the gradients of the queries that the parts have computed.
  void add_parts(const Arguments& a) const {
    this->each_part(a, this->block_count_, [&](const auto&, int64_t head, int64_t number) {
      const StepRange block = this->block(number);
      const int64_t first = block.begin * this->query_.head_size;
      S* sum = part_of_scratch(a, head, 0) + first;
      for (int64_t part = 1; part < parts_; ++part)
        this->loops_.add(part_of_scratch(a, head, part) + first,
                         block.count() * this->query_.head_size, sum);
      this->loops_.divide(sum, nullptr, this->rows_of(a.out<T>(0), this->query_, head, block));
    });
  }

  int64_t part_tiles_;  ///< the number of tiles of a part
  int64_t parts_;       ///< the number of parts of a head
  size_t bytes_;
};

}  // namespace

std::unique_ptr<Kernel> make_attention_gradient(const Request& r) {
  return make_attention<AttentionGradient>(r);
}

}  // namespace crescent::cpu
