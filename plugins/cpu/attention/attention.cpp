// Attention. The work is divided into parts. A part is a group of blocks of queries in one head of
// one sample. A part processes the tiles of keys one after another. For each block of queries it
// stores the maximum of the scores so far, the sum of their exponentials and the weighted sums of
// values.
#include "attention/attention_kernel.h"
#include "kernel/converted.h"

namespace crescent::cpu {
namespace {

/// The largest number of blocks of queries in a group. All blocks of a group use the same packed
/// keys of a tile.
constexpr int64_t kMaxGroupBlocks = 8;

template <class T>
class AttentionForward final : public AttentionKernel<T, Attention> {
 public:
  using Base = AttentionKernel<T, Attention>;
  using typename Base::S;
  using typename Base::TileRows;

  explicit AttentionForward(const Request& r) : Base(r, 3) {
    group_blocks_ = std::clamp<int64_t>(this->query_.head_count * this->block_count_ / kTargetParts,
                                        1, std::min(kMaxGroupBlocks, this->block_count_));
    ScratchArrays arrays;
    scratch_of(arrays);
    thread_scratch_bytes_ = arrays.bytes();
  }
  void run(const Arguments& a) const override {
    this->for_each_part(
        a, pieces(this->block_count_, group_blocks_),
        [&](const auto& multiply, int64_t head, int64_t group) {
          const int64_t first = group * group_blocks_;
          attend(a, multiply, head, {first, std::min(first + group_blocks_, this->block_count_)});
        });
  }
  double flops() const override { return this->flops_of(2); }

 private:
  struct Scratch {
    T* packed;         ///< the keys of a tile
    S* x;              ///< the scores of a tile
    S* weighted_sums;  ///< the weighted sums of values of all blocks
    std::byte* work;
  };
  Scratch scratch_of(ScratchArrays& arrays) const {
    const int64_t packed_count =
        HeadProducts<T>::packed_values(this->tile_keys_, this->key_.head_size);
    Scratch s;
    s.packed = arrays.assign<T>(packed_count);
    s.x = arrays.assign<S>(this->block_queries_ * this->tile_keys_);
    s.weighted_sums =
        arrays.assign<S>(group_blocks_ * this->block_queries_ * this->value_.head_size);
    s.work = arrays.assign<std::byte>(static_cast<int64_t>(this->work_bytes_));
    return s;
  }

  /// Computes attention for the blocks of queries in a group.
  void attend(const Arguments& a, const HeadProducts<T>& multiply, int64_t head,
              StepRange group) const {
    ScratchArrays arrays(thread_scratch(thread_scratch_bytes_));
    const Scratch s = scratch_of(arrays);
    StepRange visible_keys[kMaxGroupBlocks], all_keys{this->key_.steps, 0};
    for (int64_t i = 0; i < group.count(); ++i) {
      visible_keys[i] = this->keys_of(a, head, this->block(group.begin + i));
      all_keys = {std::min(all_keys.begin, visible_keys[i].begin),
                  std::max(all_keys.end, visible_keys[i].end)};
    }
    for (int64_t t = all_keys.begin / this->tile_keys_;
         t < this->tile_count_ && t * this->tile_keys_ < all_keys.end; ++t) {
      const StepRange tile = this->tile(t);
      const auto rows = this->tile_rows(multiply, this->rows_of(a.in<T>(1), this->key_, head, tile),
                                        group.count() > 1, s.packed);
      for (int64_t i = 0; i < group.count(); ++i)
        add_values(a, multiply, head, this->block(group.begin + i), tile, rows, visible_keys[i], s,
                   s.weighted_sums + i * this->block_queries_ * this->value_.head_size);
    }
    for (int64_t i = 0; i < group.count(); ++i) {
      const StepRange block = this->block(group.begin + i);
      this->loops_.divide(s.weighted_sums + i * this->block_queries_ * this->value_.head_size,
                          a.out<S>(1) + this->statistics_offset(head, block.begin),
                          this->rows_of(a.out<T>(0), this->context_, head, block));
    }
  }

  /// Adds the values of a tile, multiplied by the attention weights, to the sums of a block of
  /// queries. The block attends to the keys `visible_keys`.
  void add_values(const Arguments& a, const HeadProducts<T>& multiply, int64_t head,
                  StepRange block, StepRange tile, const TileRows& rows, StepRange visible_keys,
                  const Scratch& s, S* weighted_sums) const {
    const StepRange keys = this->keys_in_tile(tile, visible_keys);
    if (keys.count() == 0) return;
    const int64_t width = this->value_.head_size;
    const bool is_first = tile.begin <= visible_keys.begin;
    this->multiply_transposed(multiply, this->rows_of(a.in<T>(0), this->query_, head, block), rows,
                              keys.begin - tile.begin, keys.count(), s.x, s.work);
    S* statistics = a.out<S>(1) + this->statistics_offset(head, block.begin);
    this->for_each_slice(a, head, this->score_tile(a, head, block, keys, s.x),
                         [&](const ScoreTile<S>& slice, int64_t row) {
                           this->loops_.exponentials(slice, is_first, statistics + 2 * row,
                                                     weighted_sums + row * width, width);
                           const int64_t query = block.begin + row;
                           typename Base::SliceDropout(*this, a, head, {query, query + slice.rows},
                                                       keys)
                               .apply(slice.x);
                         });
    const auto values = this->rows_of(a.in<T>(2), this->value_, head, keys);
    multiply(HeadProduct<S, T>{false, false, block.count(), width, keys.count(), s.x, keys.count(),
                               values.x, values.ld, !is_first, weighted_sums, width},
             s.work);
  }

  int64_t group_blocks_;  ///< blocks per group
  size_t thread_scratch_bytes_;
};

}  // namespace

std::span<const KernelEntry> attention_kernels() {
  static constexpr KernelFactory kThroughFloat32 = make_converted<attention_kernels>;
  static constexpr KernelEntry kEntries[] = {{"attention", make_attention<AttentionForward>},
                                             {"attention", kThroughFloat32},
                                             {"attention_backward", make_attention_gradient},
                                             {"attention_backward", kThroughFloat32}};
  return kEntries;
}

}  // namespace crescent::cpu
