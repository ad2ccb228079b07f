// Matrix products of bfloat16, and of float32 values that are split into bfloat16 parts, on AMX
// tiles. An operand that only one part of the work reads is packed within that part, some values
// along k at a time, so that it stays in the core's cache; an operand that several parts read is
// packed as a whole beforehand.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "elementwise/epilogue.h"
#include "kernel/loops.h"
#include "matmul/amx_cut.h"
#include "matmul/amx_operand.h"
#include "matmul/blas.h"
#include "matmul/matmul.h"
#include "threads/thread_scratch.h"
#include "threads/work_trace.h"

namespace crescent::cpu {
namespace {

using amx::kBlock;

constexpr double kMinThreadFlops = 4e6;  ///< fewest operations for which a further thread is used

amx::Form form_of(const Request& r) {
  const bool is_half = r.inputs[0].dtype == DType::bfloat16 || PostOps(r.op).mixed != Mixed::no;
  return is_half ? amx::Form::rounded : amx::Form::split;
}

/// Whether a float32 product is faster with split values on tiles than with vector instructions.
/// According to measurements, full tiles are 2.2 times as fast, splitting a value costs as much as
/// 30 multiplications with vectors, and each product has a fixed overhead.
bool split_pays_off(const MatmulPlan& p) {
  auto rounded_up = [](int64_t lines, int64_t step) {
    return static_cast<double>(pieces(lines, step) * step);
  };
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const double operations =
      rounded_up(p.m, kBlock) * rounded_up(p.n, kBlock) * rounded_up(p.k, amx::kDepth) / 2.2 +
      30 * (m + n) * k;
  return operations + 300e3 / static_cast<double>(p.count()) < m * n * k;
}

class AmxMatmul final : public EpilogueHost {
 public:
  explicit AmxMatmul(const Request& r)
      : EpilogueHost(r),
        plan_(r),
        form_(form_of(r)),
        packs_left_(!can_be_read_unpacked(plan_, r.inputs[0].dtype)),
        few_threads_(AmxCut(plan_, packs_left_, form_, AmxCut::ThreadCount::few)),
        many_threads_(AmxCut(plan_, packs_left_, form_, AmxCut::ThreadCount::many)),
        a_{r.inputs[0].dtype, form_, true, !plan_.transpose_a, plan_.m, plan_.k, plan_.a},
        b_{r.inputs[1].dtype, form_, false, plan_.transpose_b, plan_.n, plan_.k, plan_.b},
        c_dtype_(r.outputs[0].dtype),
        widen_(cast_loop(is_split() ? DType::float32 : DType::bfloat16, DType::float32)) {
    find_shared_operands();
  }

  InputConversion prepare(int input) override {
    if (input != 1 || plan_.count() > 1) return {};
    is_packed_ = true;
    find_shared_operands();
    return {std::make_unique<PackRight>(b_),
            {DType::bfloat16, {b_.values()}},
            concat(amx::name(), " ", b_.lines, " ", b_.depth, b_.in_rows ? " rows" : " columns",
                   is_split() ? " split" : "")};
  }
  void run(const Arguments& args) const override {
    MaybeEpilogue epilogue;
    begin(args, epilogue);
    const Partition& partition = partition_for(args.threads);
    pack_shared(args, partition);
    const int64_t parts =
        plan_.count() * partition.cut.row_blocks * partition.cut.column_blocks * sum_count();
    const auto grain =
        static_cast<int64_t>(kMinThreadFlops / 2 * static_cast<double>(parts) / plan_.flops());
    args.threads.blocks(parts, std::max<int64_t>(grain, 1), [&](int64_t begin, int64_t end) {
      const amx::Tiles tiles;
      for (int64_t i = begin; i < end; ++i) compute(args, epilogue, part_at(partition, i));
    });
    if (sum_count() > 1)
      args.threads.blocks(plan_.count() * plan_.m, 32, [&](int64_t begin, int64_t end) {
        add_partial_sums(args, epilogue, begin, end);
      });
    column_sums_.end(args, plan_, sum_count(), column_scratch(args));
  }
  bool sum_columns(int64_t columns, int output) override {
    if (column_sums_.is_enabled() || !is_split() || !plan_.has_gradient_layout(columns))
      return false;
    column_sums_.enable(output);
    return true;
  }

 protected:
  /// Whether the epilogue can get whole rows. For this all of b is packed, so b must be smaller
  /// than the result.
  bool can_pass_rows() const override {
    const AmxCut& cut = few_threads_.cut;
    return sum_count() > 1 ||
           (plan_.k <= plan_.m && plan_.count() * cut.row_blocks * cut.column_blocks > 1);
  }
  void prepare_for_epilogue() override {
    if (sum_count() > 1) return;
    for (Partition* partition : {&few_threads_, &many_threads_})
      partition->cut.use_whole_rows(plan_);
    find_shared_operands();
  }
  std::string product_name() const override {
    return concat(amx::name(), is_split() ? " bf16x3" : "",
                  column_sums_.is_enabled() ? " with column sums" : "");
  }
  size_t product_scratch_bytes() const override {
    return (partial_sum_count() * size() + column_values()) * sizeof(float) +
           (packed_a_values() + packed_b_values()) * sizeof(uint16_t);
  }
  double product_flops() const override { return plan_.flops(); }

 private:
  bool is_split() const { return form_ == amx::Form::split; }

  /// The division of the work into parts, and whether several parts read the same a or b.
  struct Partition {
    AmxCut cut;
    bool shares_a = false, shares_b = false;
  };
  /// Chooses the partition by the number of threads. Profiles always use the partition for many
  /// threads, because they estimate times on many cores.
  const Partition& partition_for(const CpuThreads& threads) const {
    constexpr int kMaxFewThreads = 8;
    return threads.threads() > kMaxFewThreads || WorkTrace::current() ? many_threads_
                                                                      : few_threads_;
  }
  int64_t sum_count() const { return few_threads_.cut.sums; }

  struct PartialTile {
    const Partition& partition;
    int64_t item, sum, i, j, rows, columns, k0, k1;
  };
  PartialTile part_at(const Partition& partition, int64_t index) const {
    const AmxCut& cut = partition.cut;
    const int64_t blocks = cut.row_blocks * cut.column_blocks, all = plan_.count() * blocks;
    const int64_t sum = index / all, block = index % all,
                  item = block / blocks;  // partial sums are the outermost index, as in TiledMatmul
    const int64_t i = block / cut.column_blocks % cut.row_blocks * cut.rows,
                  j = block % cut.column_blocks * cut.columns;
    const int64_t k = sum * cut.depth;
    return {partition,
            item,
            sum,
            i,
            j,
            std::min(cut.rows, plan_.m - i),
            std::min(cut.columns, plan_.n - j),
            k,
            std::min(k + cut.depth, plan_.k)};
  }
  void find_shared_operands() {
    for (Partition* partition : {&few_threads_, &many_threads_}) {
      partition->shares_a = packs_left_ && partition->cut.column_blocks > 1,
      partition->shares_b = partition->cut.row_blocks > 1 && !is_packed_;
    }
  }

  int64_t partial_sum_count() const { return sum_count() > 1 ? sum_count() : 0; }
  /// The number of values of a partial sum of all products, rounded up to whole cache lines.
  int64_t size() const {
    return pieces(plan_.count() * plan_.m * plan_.n, amx::kLines) * amx::kLines;
  }
  float* partial_sum(const Arguments& args, int64_t sum) const {
    return reinterpret_cast<float*>(args.scratch) + sum * size();
  }

  /// Whether a can be read without packing: it has the layout of tiles, and its rows do not compete
  /// for the same sets of the first-level cache.
  static bool can_be_read_unpacked(const MatmulPlan& p, DType a) {
    constexpr int64_t kMaxRowStride = 512;  // largest number of values between rows
    return a == DType::bfloat16 && !p.transpose_a && p.m % kBlock == 0 && p.k % amx::kDepth == 0 &&
           p.k <= kMaxRowStride;
  }

  /// The number of values of the packed a, which is in scratch memory behind the partial sums; 0 if
  /// no parts share a.
  int64_t packed_a_values() const {
    return few_threads_.shares_a || many_threads_.shares_a ? plan_.count() * a_.values() : 0;
  }
  int64_t packed_b_values() const {
    return few_threads_.shares_b || many_threads_.shares_b ? plan_.count() * b_.values() : 0;
  }
  int64_t column_values() const {
    return pieces(column_sums_.scratch_values(plan_, sum_count()), amx::kLines) * amx::kLines;
  }
  float* column_scratch(const Arguments& args) const {
    return partial_sum(args, partial_sum_count());
  }
  uint16_t* shared_a(const Arguments& args) const {
    return reinterpret_cast<uint16_t*>(column_scratch(args) + column_values());
  }
  uint16_t* shared_b(const Arguments& args) const { return shared_a(args) + packed_a_values(); }
  /// The packed b if b is packed as a whole, else null.
  const uint16_t* whole_b(const Arguments& args, const Partition& partition) const {
    return is_packed_ ? args.in<uint16_t>(1) : partition.shares_b ? shared_b(args) : nullptr;
  }

  void pack_shared(const Arguments& args, const Partition& partition) const {
    const int64_t left = partition.shares_a ? a_.packing_parts() : 0,
                  right = partition.shares_b ? b_.packing_parts() : 0;
    args.threads.parallel(left + right, [&](int64_t part, int) {
      part < left ? a_.pack_part(args.inputs[0], part, shared_a(args))
                  : b_.pack_part(args.inputs[1], part - left, shared_b(args));
    });
  }

  /// A block of the result of split values, and the destination of its sums.
  struct Block {
    /// The destination of the sums; it has no rows if an activation must be applied to them first.
    amx::Result result{};
    /// Position and size of the block; rows is 0 while its sums are incomplete.
    int64_t i = 0, j = 0, rows = 0, columns = 0;
    const float *bias = nullptr, *other = nullptr;
  };

  /// The order in which a part's blocks are computed, and the thread's memory for them. Each block
  /// of one operand is packed and multiplied by all blocks of the other operand in turn.
  struct Workspace {
    int64_t row_blocks, column_blocks;  ///< the numbers of blocks
    int64_t k_step;                     ///< the number of values along k that are packed at a time
    bool packs_all_depth;               ///< whether all of k is packed at once
    bool feeds_epilogue;                ///< whether the epilogue reads rows of the result
    bool in_rows;                       ///< whether blocks are computed row by row
    float* sums;                        ///< the sums of two blocks
    float* totals;                      ///< the sums of all blocks if k is packed in several pieces
    float* bias;
    /// Memory for a row of blocks, which the epilogue reads; null without epilogue.
    std::byte* row;
    uint16_t *scratch_a, *scratch_b;
  };
  Workspace workspace(const PartialTile& p, bool has_epilogue) const {
    Workspace w{};
    const int64_t depth = p.k1 - p.k0;
    w.row_blocks = pieces(p.rows, kBlock), w.column_blocks = pieces(p.columns, kBlock);
    w.k_step =
        pieces(pieces(depth, pieces(depth, max_packed_depth(form_))), amx::kDepth) * amx::kDepth;
    w.packs_all_depth = depth <= w.k_step, w.feeds_epilogue = has_epilogue && sum_count() == 1,
    w.in_rows = w.packs_all_depth || w.feeds_epilogue;
    const int64_t strip_size = amx::strip_values(w.k_step, form_), width = w.column_blocks * kBlock;
    const int64_t a =
        !packs_left_ || p.partition.shares_a ? 0 : 2 * strip_size * (w.in_rows ? 1 : w.row_blocks);
    const int64_t b =
        p.partition.shares_b || is_packed_ ? 0 : 2 * strip_size * (w.in_rows ? w.column_blocks : 1);
    const int64_t total_count = w.packs_all_depth ? 0 : w.row_blocks * w.column_blocks;
    const int64_t floats =
        (2 + total_count) * amx::kBlockValues + width + (w.feeds_epilogue ? kBlock * width : 0);
    w.sums = reinterpret_cast<float*>(
        thread_scratch(floats * sizeof(float) + (a + b) * sizeof(uint16_t)));
    w.totals = w.sums + 2 * amx::kBlockValues, w.bias = w.totals + total_count * amx::kBlockValues;
    w.row = w.feeds_epilogue ? reinterpret_cast<std::byte*>(w.bias + width) : nullptr;
    w.scratch_a = reinterpret_cast<uint16_t*>(w.sums + floats), w.scratch_b = w.scratch_a + a;
    return w;
  }

  void compute(const Arguments& args, const MaybeEpilogue& epilogue, const PartialTile& p) const {
    const Workspace w = workspace(p, static_cast<bool>(epilogue));
    if (plan_.has_bias) read_bias(args, p.j, p.columns, w.bias);
    Block earlier;
    for (int64_t k = p.k0; k < p.k1; k += w.k_step) {
      const int64_t k_count = std::min(w.k_step, p.k1 - k);
      if (column_sums_.is_enabled() && p.i == 0) add_rows(args, p, k, k_count);
      add_depth_range(args, epilogue, p, w, k, k_count, earlier);
    }
    flush(args, p, earlier);
  }

  /// Adds the products of values [k, k + k_count) to all sums of the part; after the last values
  /// the sums are finished. `earlier` is a block of split values that is stored while the next one
  /// is multiplied.
  void add_depth_range(const Arguments& args, const MaybeEpilogue& epilogue, const PartialTile& p,
                       const Workspace& w, int64_t k, int64_t k_count, Block& earlier) const {
    auto rows = [&](int64_t i, int64_t count) {
      if (!packs_left_) return Strips{};
      return a_.strips(args.inputs[0], p.partition.shares_a ? shared_a(args) : nullptr, w.scratch_a,
                       p.item, p.i + i, std::min(count, p.rows - i), k, k_count);
    };
    auto columns = [&](int64_t j, int64_t count) {
      return b_.strips(args.inputs[1], whole_b(args, p.partition), w.scratch_b, p.item, p.j + j,
                       std::min(count, p.columns - j), k, k_count);
    };
    const bool is_last = k + k_count >= p.k1;
    const int64_t step_count = w.in_rows ? w.row_blocks : w.column_blocks,
                  blocks = w.in_rows ? w.column_blocks : w.row_blocks;
    const Strips other_strips = w.in_rows ? columns(0, p.columns) : rows(0, p.rows);
    for (int64_t step_number = 0; step_number < step_count; ++step_number) {
      const Strips strips =
          w.in_rows ? rows(step_number * kBlock, kBlock) : columns(step_number * kBlock, kBlock);
      for (int64_t at = 0; at < blocks; ++at) {
        const int64_t i = w.in_rows ? step_number : at, j = w.in_rows ? at : step_number;
        const std::array strip_pair = {other_strips[2 * at], other_strips[2 * at + 1]};
        const amx::LeftStrips a = !packs_left_ ? left_in_memory(args, p, i * kBlock, k)
                                  : w.in_rows  ? amx::LeftStrips{{strips[0], strips[1]}}
                                               : amx::LeftStrips{{strip_pair[0], strip_pair[1]}};
        const amx::RightStrips b = w.in_rows ? amx::RightStrips{{strip_pair[0], strip_pair[1]}}
                                             : amx::RightStrips{{strips[0], strips[1]}};
        multiply(args, p, w, i * kBlock, j * kBlock, a, b, step_number * blocks + at, k == p.k0,
                 is_last, k_count, earlier);
      }
      if (w.feeds_epilogue && is_last) {
        flush(args, p, earlier);
        const int64_t i = step_number * kBlock, first = p.item * plan_.m + p.i + i;
        (*epilogue)(first * plan_.n, (first + std::min(kBlock, p.rows - i)) * plan_.n, w.row);
      }
    }
  }

  /// Multiplies the strips of block `index` of the part, which is at (i, j).
  void multiply(const Arguments& args, const PartialTile& p, const Workspace& w, int64_t i,
                int64_t j, const amx::LeftStrips& a, const amx::RightStrips& b, int64_t index,
                bool is_first, bool is_last, int64_t k_count, Block& earlier) const {
    float* total = w.totals + index * amx::kBlockValues;
    const float* bias = plan_.has_bias ? w.bias + j : nullptr;
    if (is_split()) {
      float* sums = w.sums + index % 2 * amx::kBlockValues;
      Block block = is_last ? this->block(args, p, i, j, sums, bias, w.row)
                            : Block{{sums, kBlock, kBlock, total, kBlock}};
      if (!is_first) block.result.total = total;
      const bool is_finite =
          amx::multiply_split(a, b, amx::steps(k_count), block.result, earlier.result);
      finish_block(args, p, std::exchange(earlier, block), is_finite);
    } else {
      float* sums = w.packs_all_depth ? w.sums : total;
      amx::multiply(amx::Block::square, a, b, amx::steps(k_count), 1, sums, !is_first);
      if (is_last) store(args, p, i, j, sums, bias, w.row);
    }
  }

  /// Adds rows [k, k + k_count) of b to the column sums, for the columns of the part.
  void add_rows(const Arguments& args, const PartialTile& p, int64_t k, int64_t k_count) const {
    float* sums =
        column_sums_.partial_sums(args, plan_, sum_count(), p.sum, column_scratch(args)) + p.j;
    if (k == p.k0) std::fill_n(sums, p.columns, 0.0f);
    amx::add_rows(args.in<float>(1) + plan_.b[0] + k * plan_.n + p.j, plan_.n, k_count, p.columns,
                  sums);
  }

  /// The block at (i, j) of the part, whose sums are complete, with their destination.
  Block block(const Arguments& args, const PartialTile& p, int64_t i, int64_t j, float* sums,
              const float* bias, std::byte* row) const {
    const int64_t rows = std::min(kBlock, p.rows - i), columns = std::min(kBlock, p.columns - j);
    const int64_t at = (p.item * plan_.m + p.i + i) * plan_.n + p.j + j;
    if (sum_count() > 1)
      return {{sums, rows, columns, partial_sum(args, p.sum) + at, plan_.n}, i, j, rows, columns};
    float* c = row ? reinterpret_cast<float*>(row) + j : args.out<float>(0) + at;
    const float* other =
        plan_.combine == Combine::none ? nullptr : args.in<float>(plan_.combined_index()) + at;
    if (!is_cheap(plan_.activation))
      return {{sums, 0, columns, c, plan_.n}, i, j, rows, columns, bias, other};
    return {{sums, rows, columns, c, plan_.n, nullptr, bias, plan_.combine, other,
             plan_.activation == ActivationKind::relu},
            i,
            j,
            rows,
            columns};
  }
  /// Finishes a block after amx::multiply_split() or amx::store() has stored its sums: computes
  /// sums that are not finite again, and applies activations other than relu.
  void finish_block(const Arguments& args, const PartialTile& p, Block block,
                    bool is_finite) const {
    amx::Result& r = block.result;
    if (block.rows == 0) return;
    const bool is_activated = r.rows == 0;
    if (is_activated)
      is_finite = amx::store(
          {r.sums, block.rows, block.columns, r.sums, kBlock, std::exchange(r.total, nullptr)});
    if (!is_finite) {
      recompute_exactly(args, p, block.i, block.j, block.rows, block.columns, r.sums);
      r.total = nullptr;
      amx::store(r);
    }
    if (!is_activated) return;
    if (block.other)
      combine(plan_.combine, block.other, plan_.n, block.rows, block.columns, r.sums, kBlock);
    finish<float>(r.sums, block.rows, block.columns, kBlock, block.bias, plan_.activation);
    r.rows = block.rows;
    amx::store(r);
  }
  void flush(const Arguments& args, const PartialTile& p, Block& block) const {
    finish_block(args, p, block, amx::store(block.result));
    block = {};
  }

  amx::LeftStrips left_in_memory(const Arguments& args, const PartialTile& p, int64_t i,
                                 int64_t k) const {
    const uint16_t* first = args.in<uint16_t>(0) + plan_.a[p.item] + (p.i + i) * plan_.k + k;
    return {{first, first + amx::kLines * plan_.k}, plan_.k, amx::kDepth};
  }

  void read_bias(const Arguments& args, int64_t j, int64_t columns, float* to) const {
    is_split() ? widen_(args.in<float>(2) + j, to, columns)
               : widen_(args.in<uint16_t>(2) + j, to, columns);
  }
  void combine_with(const Arguments& args, int64_t at, int64_t rows, int64_t columns, float* c,
                    int64_t ld) const {
    is_split() ? combine(plan_.combine, args.in<float>(plan_.combined_index()) + at, plan_.n, rows,
                         columns, c, ld)
               : combine(plan_.combine, args.in<BFloat16>(plan_.combined_index()) + at, plan_.n,
                         rows, columns, c, ld);
  }

  /// Computes the sums of a block again by float32 products, which handle infinity and NaN.
  void recompute_exactly(const Arguments& args, const PartialTile& p, int64_t i, int64_t j,
                         int64_t rows, int64_t columns, float* sums) const {
    constexpr int64_t kDepthAtOnce = 4 * amx::kDepth;
    alignas(64) float joined_b[kDepthAtOnce * kBlock];
    const float* a =
        args.in<float>(0) + plan_.a[p.item] + (p.i + i) * (plan_.transpose_a ? 1 : plan_.lda());
    for (int64_t k = p.k0; k < p.k1; k += kDepthAtOnce) {
      Product<float> product{plan_.transpose_a, plan_.transpose_b, rows, columns,
                             std::min(kDepthAtOnce, p.k1 - k)};
      product.a = a + k * (plan_.transpose_a ? plan_.lda() : 1), product.lda = plan_.lda();
      if (is_packed_) {
        const Strips b = b_.strips(args.inputs[1], whole_b(args, p.partition), nullptr, p.item,
                                   p.j + j, columns, k, product.k);
        for (int64_t s = 0; s < b.count; ++s)
          amx::join_right(b[s], std::min(amx::kLines, columns - s * amx::kLines), product.k,
                          joined_b + s * amx::kLines, kBlock);
        product.transpose_b = false, product.b = joined_b, product.ldb = kBlock;
      } else {
        product.b = args.in<float>(1) + plan_.b[p.item] +
                    (plan_.transpose_b ? (p.j + j) * plan_.ldb() + k : k * plan_.ldb() + p.j + j);
        product.ldb = plan_.ldb();
      }
      product.beta = k > p.k0, product.c = sums, product.ldc = kBlock;
      packed_gemm(product);
    }
  }

  /// Stores the 32 x 32 sums of rounded values at (i, j) of the part to c, or to `row` for the
  /// epilogue.
  void store(const Arguments& args, const PartialTile& p, int64_t i, int64_t j, float* sums,
             const float* bias, std::byte* row) const {
    const int64_t rows = std::min(kBlock, p.rows - i), columns = std::min(kBlock, p.columns - j);
    const int64_t at = (p.item * plan_.m + p.i + i) * plan_.n + p.j + j;
    if (sum_count() > 1)
      return amx::store(sums, kBlock, rows, columns, nullptr, false, partial_sum(args, p.sum) + at,
                        plan_.n);
    if (plan_.combine != Combine::none) combine_with(args, at, rows, columns, sums, kBlock);
    if (!is_cheap(plan_.activation))
      finish<float>(sums, rows, columns, kBlock, std::exchange(bias, nullptr), plan_.activation);
    as_values(c_dtype_, row ? row : args.outputs[0], [&](auto* c) {
      amx::store(sums, kBlock, rows, columns, bias, plan_.activation == ActivationKind::relu,
                 c + (row ? j : at), plan_.n);
    });
  }

  void add_partial_sums(const Arguments& args, const MaybeEpilogue& epilogue, int64_t begin,
                        int64_t end) const {
    const int64_t first = begin * plan_.n, count = (end - begin) * plan_.n;
    float* total = partial_sum(args, 0) + first;
    for (int64_t i = 1; i < sum_count(); ++i)
      accumulate(total, partial_sum(args, i) + first, count);
    if (plan_.combine != Combine::none)
      combine_with(args, first, end - begin, plan_.n, total, plan_.n);
    for (int64_t j = 0; j < plan_.n; j += kBlock) {
      const int64_t columns = std::min(kBlock, plan_.n - j);
      float bias[kBlock];
      if (plan_.has_bias) read_bias(args, j, columns, bias);
      finish<float>(total + j, end - begin, columns, plan_.n, plan_.has_bias ? bias : nullptr,
                    plan_.activation);
    }
    if (epilogue && is_split()) return (*epilogue)(first, first + count, total);
    const size_t bytes = size_of(c_dtype_);
    std::byte* to = epilogue ? thread_scratch(static_cast<size_t>(count) * bytes)
                             : args.outputs[0] + static_cast<size_t>(first) * bytes;
    cast_loop(DType::float32, c_dtype_)(total, to, static_cast<size_t>(count));
    if (epilogue) (*epilogue)(first, first + count, to);
  }

  MatmulPlan plan_;
  amx::Form form_;
  bool packs_left_;
  Partition few_threads_, many_threads_;  ///< the partitions, which give the same sums
  Operand a_, b_;
  DType c_dtype_;
  bool is_packed_ = false;
  ColumnSums column_sums_;
  UnaryLoop widen_;
};

}  // namespace

std::unique_ptr<Kernel> make_amx_matmul(const Request& r) {
  const bool is_split = form_of(r) == amx::Form::split;
  if (is_split && (!amx::has_tiles() || r.outputs[0].dtype != DType::float32)) return nullptr;
  const MatmulPlan plan(r);
  if (!amx::available() || plan.flops() == 0 || (is_split && !split_pays_off(plan))) return nullptr;
  return std::make_unique<AmxMatmul>(r);
}

}  // namespace crescent::cpu
