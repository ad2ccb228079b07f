// Products of bfloat16 on AMX tiles. What only one part of the work reads of a and b it packs itself, a stretch of k at a
// time, and has it in its own cache; what several parts read is packed before, once.
#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "amx.h"
#include "follower.h"
#include "loops.h"
#include "matmul.h"
#include "thread_scratch.h"

namespace crescent::cpu {
namespace {

using amx::kBlock;

constexpr int64_t kDepth = 288;              ///< packed at a time at most: four strips of it fit the first-level cache
constexpr double kFlopsPerRegion = 4e6;      ///< worth another thread

/// Pieces of this size at most, but for rounding up to a multiple of `step`; as many as make the last one least different.
int64_t even(int64_t whole, int64_t piece, int64_t step) {
  int64_t best = 0, missing = std::numeric_limits<int64_t>::max();
  for (int64_t count = pieces(whole, piece), end = 2 * count; count < end; ++count) {
    const int64_t size = pieces(pieces(whole, count), step) * step, rest = pieces(whole, size) * size - whole;
    if (rest < missing) best = size, missing = rest;
  }
  return best;
}

/// How a product is cut, by its shape alone: blocks of the result, and of long sums several parts. A cut costs: where there
/// is more than one block of columns all of a is shared, and of rows all of b; partial sums are stored and added.
struct Cut {
  Cut(const MatmulPlan& p, bool packs_left) : rows(p.m), columns(p.n), depth(p.k) {
    while (may_be_cut(p)) {
      constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
      const int64_t across = columns < 2 * kBlock ? kNever : packs_left && columns == p.n ? rows * depth : 0;
      const int64_t down = rows < 2 * kBlock ? kNever : rows == p.m ? columns * depth : 0;
      const int64_t deep = depth < 2 * kDepth ? kNever : rows * columns * (depth == p.k ? 8 : 2);
      const int64_t cheapest = std::min({across, down, deep});
      if (cheapest == kNever) break;
      int64_t& halved = cheapest == across ? columns : cheapest == down ? rows : depth;
      halved = (halved + 1) / 2;
    }
    constexpr int64_t kLargest = 512;        // lines of a block
    rows = even(p.m, std::min(rows, kLargest), kBlock), columns = even(p.n, std::min(columns, kLargest), kBlock);
    depth = even(p.k, depth, amx::kDepth);
    row_blocks = pieces(p.m, rows), column_blocks = pieces(p.n, columns), sums = pieces(p.k, depth);
  }

  /// Blocks of whole rows instead.
  void take_whole_rows(const MatmulPlan& p) {
    constexpr int64_t kLargest = 512, kMostSums = 256 << 10;       // rows and values of a block
    rows = p.m, columns = p.n;
    while (may_be_cut(p) && rows >= 2 * kBlock) rows = (rows + 1) / 2;
    rows = even(p.m, std::min({rows, kLargest, std::max(kBlock, kMostSums / columns)}), kBlock);
    row_blocks = pieces(p.m, rows), column_blocks = 1;
  }

  int64_t rows, columns, depth;              ///< of a part that is not at an edge
  int64_t row_blocks, column_blocks, sums;

 private:
  /// The parts are few, and not small.
  bool may_be_cut(const MatmulPlan& p) const {
    constexpr int64_t kEnough = 8;
    constexpr double kLeastWork = 1e6;       // multiplications of a part
    const double work = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
    return p.count() * pieces(p.m, rows) * pieces(p.n, columns) * pieces(p.k, depth) < kEnough && work > 2 * kLeastWork;
  }
};

/// f(values) on memory as the C++ type of its dtype.
template <class Byte, class F>
void as_values(DType dtype, Byte* memory, F&& f) {
  using Half = std::conditional_t<std::is_const_v<Byte>, const uint16_t, uint16_t>;
  using Single = std::conditional_t<std::is_const_v<Byte>, const float, float>;
  dtype == DType::float32 ? f(reinterpret_cast<Single*>(memory)) : f(reinterpret_cast<Half*>(memory));
}

/// One operand of a product: its lines are rows of a or columns of b.
struct Side {
  DType dtype;
  bool is_left, in_rows;                 ///< in_rows: a line is contiguous in memory
  int64_t lines, depth;
  std::span<const int64_t> items;        ///< where the matrix of each product begins

  int64_t ld() const { return in_rows ? depth : lines; }
  int64_t values() const { return pieces(lines, amx::kLines) * amx::strip_values(depth); }   ///< of a product, packed

  /// Packs `count` lines, values k to k + deep of each, into strips `stride` values apart.
  void pack(const std::byte* memory, int64_t item, int64_t line, int64_t count, int64_t k, int64_t deep, uint16_t* to,
            int64_t stride) const {
    const auto lie = in_rows ? amx::Lie::lines_in_rows : amx::Lie::lines_in_columns;
    as_values(dtype, memory, [&](auto* from) {
      from += items[static_cast<size_t>(item)] + (in_rows ? line * depth + k : k * lines + line);
      is_left ? amx::pack_left(from, ld(), lie, count, deep, to, stride) : amx::pack_right(from, ld(), lie, count, deep, to, stride);
    });
  }

  /// The pieces that all of it is packed in, as memory is read front to back.
  int64_t packing_parts() const { return static_cast<int64_t>(items.size()) * parts_of_item(); }
  void pack_part(const std::byte* memory, int64_t part, uint16_t* to) const {
    const int64_t item = part / parts_of_item(), at = part % parts_of_item() * kBlock, strip = amx::strip_values(depth);
    to += item * values();
    if (in_rows) return pack(memory, item, at, std::min(kBlock, lines - at), 0, depth, to + at / amx::kLines * strip, strip);
    pack(memory, item, 0, lines, at, std::min(kBlock, depth - at), to + at * amx::kLines, strip);
  }

 private:
  int64_t parts_of_item() const { return pieces(in_rows ? lines : depth, kBlock); }
};

class AmxMatmul final : public Followed {
 public:
  explicit AmxMatmul(const Request& r)
      : Followed(r), plan_(r), packs_left_(!is_left(plan_, r.inputs[0].dtype)), cut_(plan_, packs_left_),
        a_{r.inputs[0].dtype, true, !plan_.transpose_a, plan_.m, plan_.k, plan_.a},
        b_{r.inputs[1].dtype, false, plan_.transpose_b, plan_.n, plan_.k, plan_.b}, c_(r.outputs[0].dtype) {
    find_shared();
  }

  void run(const Arguments& args) override {
    Next next;
    begin(args, next);
    pack_shared(args);
    const int64_t parts = plan_.count() * cut_.row_blocks * cut_.column_blocks * cut_.sums;
    const auto grain = static_cast<int64_t>(kFlopsPerRegion / 2 * static_cast<double>(parts) / plan_.flops());
    args.pool.blocks(parts, std::max<int64_t>(grain, 1), [&](int64_t begin, int64_t end) {
      const amx::Tiles tiles;
      for (int64_t i = begin; i < end; ++i) compute(args, next, i);
    });
    if (cut_.sums > 1) args.pool.blocks(plan_.count() * plan_.m, 32, [&](int64_t begin, int64_t end) { sum(args, next, begin, end); });
  }

 protected:
  /// What follows wants whole rows, for which all of b is packed: that is to be less than the result.
  bool has_rows() const override {
    return cut_.sums > 1 || (plan_.k <= plan_.m && plan_.count() * cut_.row_blocks * cut_.column_blocks > 1);
  }
  void prepare_for_follower() override {
    if (cut_.sums == 1) cut_.take_whole_rows(plan_), find_shared();
  }
  std::string own_name() const override { return "amx"; }
  size_t own_scratch_bytes() const override {
    return static_cast<size_t>(partials() * size()) * sizeof(float) + static_cast<size_t>(packed_a() + packed_b()) * sizeof(uint16_t);
  }
  double own_flops() const override { return plan_.flops(); }

 private:
  struct Part {
    int64_t item, sum, i, j, rows, columns, k0, k1;
  };
  Part part(int64_t number) const {
    const int64_t blocks = cut_.row_blocks * cut_.column_blocks, all = plan_.count() * blocks;
    const int64_t sum = number / all, block = number % all, item = block / blocks;       // sums outermost, as in TiledMatmul
    const int64_t i = block / cut_.column_blocks % cut_.row_blocks * cut_.rows, j = block % cut_.column_blocks * cut_.columns;
    const int64_t k = sum * cut_.depth;
    return {item, sum, i, j, std::min(cut_.rows, plan_.m - i), std::min(cut_.columns, plan_.n - j), k, std::min(k + cut_.depth, plan_.k)};
  }
  void find_shared() { shares_a_ = packs_left_ && cut_.column_blocks > 1, shares_b_ = cut_.row_blocks > 1; }

  int64_t partials() const { return cut_.sums > 1 ? cut_.sums : 0; }
  /// Of a partial sum, in whole cache lines.
  int64_t size() const { return pieces(plan_.count() * plan_.m * plan_.n, amx::kLines) * amx::kLines; }
  float* partial(const Arguments& args, int64_t sum) const { return reinterpret_cast<float*>(args.scratch) + sum * size(); }

  /// The tiles of a are in memory as they are wanted, and its rows do not share their places in the first-level cache.
  static bool is_left(const MatmulPlan& p, DType a) {
    constexpr int64_t kFarthest = 512;       // values from row to row
    return a == DType::bfloat16 && !p.transpose_a && p.m % kBlock == 0 && p.k % amx::kDepth == 0 && p.k <= kFarthest;
  }

  /// Values of what several parts read, packed in scratch memory behind the partial sums.
  int64_t packed_a() const { return shares_a_ ? plan_.count() * a_.values() : 0; }
  int64_t packed_b() const { return shares_b_ ? plan_.count() * b_.values() : 0; }
  uint16_t* shared_a(const Arguments& args) const { return reinterpret_cast<uint16_t*>(partial(args, partials())); }
  uint16_t* shared_b(const Arguments& args) const { return shared_a(args) + packed_a(); }

  void pack_shared(const Arguments& args) const {
    const int64_t left = shares_a_ ? a_.packing_parts() : 0, right = shares_b_ ? b_.packing_parts() : 0;
    args.pool.parallel(left + right, [&](int64_t part, int) {
      part < left ? a_.pack_part(args.inputs[0], part, shared_a(args)) : b_.pack_part(args.inputs[1], part - left, shared_b(args));
    });
  }

  /// Packed strips `stride` values apart.
  struct Strips {
    const uint16_t* first;
    int64_t stride, count;
    const uint16_t* operator[](int64_t i) const { return first + std::min(i, count - 1) * stride; }
  };
  /// `count` lines of an operand from `line` on, values k to k + deep: from what is shared, or packed now into `own`.
  Strips strips(const Side& side, const std::byte* memory, const uint16_t* shared, uint16_t* own, int64_t item, int64_t line,
                int64_t count, int64_t k, int64_t deep) const {
    const int64_t strip = amx::strip_values(shared ? side.depth : deep), strip_count = pieces(count, amx::kLines);
    if (shared) return {shared + item * side.values() + line / amx::kLines * strip + k * amx::kLines, strip, strip_count};
    side.pack(memory, item, line, count, k, deep, own, strip);
    return {own, strip, strip_count};
  }

  void compute(const Arguments& args, const Next& next, int64_t number) const {
    const Part p = part(number);
    const int64_t whole = p.k1 - p.k0, stretch = pieces(pieces(whole, pieces(whole, kDepth)), amx::kDepth) * amx::kDepth;
    const int64_t deepest = amx::strip_values(stretch);
    const int64_t row_blocks = pieces(p.rows, kBlock), column_blocks = pieces(p.columns, kBlock);
    const bool at_once = whole <= stretch;
    const int64_t sum_values = amx::kBlockValues * (at_once ? 1 : row_blocks * column_blocks);
    const int64_t own_strips = (packs_left_ && !shares_a_ ? 2 * row_blocks : 0) + (shares_b_ ? 0 : 2 * column_blocks);
    const bool passes_on = next && cut_.sums == 1;
    const int64_t width = column_blocks * kBlock, row_values = passes_on ? kBlock * width : 0;
    auto* sums = reinterpret_cast<float*>(thread_scratch(static_cast<size_t>(sum_values + width + row_values) * sizeof(float) +
                                                         static_cast<size_t>(own_strips * deepest) * sizeof(uint16_t)));
    float* bias = sums + sum_values;
    auto* row = passes_on ? reinterpret_cast<std::byte*>(bias + width) : nullptr;      // of blocks
    auto* own_b = reinterpret_cast<uint16_t*>(bias + width + row_values);
    uint16_t* own_a = own_b + (shares_b_ ? 0 : 2 * column_blocks) * deepest;
    if (plan_.bias) widen_(args.in<uint16_t>(2) + p.j, bias, static_cast<size_t>(p.columns));
    for (int64_t k = p.k0; k < p.k1; k += stretch) {
      const int64_t deep = std::min(stretch, p.k1 - k);
      const Strips b = strips(b_, args.inputs[1], shares_b_ ? shared_b(args) : nullptr, own_b, p.item, p.j, p.columns, k, deep);
      Strips a{};
      if (packs_left_) a = strips(a_, args.inputs[0], shares_a_ ? shared_a(args) : nullptr, own_a, p.item, p.i, p.rows, k, deep);
      for (int64_t block = 0; block < row_blocks * column_blocks; ++block) {
        const int64_t i = passes_on ? block / column_blocks : block % row_blocks;
        const int64_t j = passes_on ? block % column_blocks : block / row_blocks;
        float* sum = at_once ? sums : sums + block * amx::kBlockValues;
        const amx::Left left = packs_left_ ? amx::Left{{a[2 * i], a[2 * i + 1]}} : left_in_memory(args, p, i * kBlock, k);
        const amx::Right right{{b[2 * j], b[2 * j + 1]}};
        amx::multiply(amx::Block::square, left, right, amx::steps(deep), 1, sum, k > p.k0);
        if (k + stretch < p.k1) continue;
        store(args, p, i * kBlock, j * kBlock, sum, plan_.bias ? bias + j * kBlock : nullptr, row);
        if (passes_on && j == column_blocks - 1) {
          const int64_t first = p.item * plan_.m + p.i + i * kBlock;
          (*next)(first * plan_.n, (first + std::min(kBlock, p.rows - i * kBlock)) * plan_.n, row);
        }
      }
    }
  }

  amx::Left left_in_memory(const Arguments& args, const Part& p, int64_t i, int64_t k) const {
    const uint16_t* first = args.in<uint16_t>(0) + plan_.a[static_cast<size_t>(p.item)] + (p.i + i) * plan_.k + k;
    return {{first, first + amx::kLines * plan_.k}, plan_.k, amx::kDepth};
  }

  /// The 32 x 32 sums at (i, j) of the part: to c, or where they are to be passed on, to `row`.
  void store(const Arguments& args, const Part& p, int64_t i, int64_t j, float* sums, const float* bias, std::byte* row) const {
    const int64_t rows = std::min(kBlock, p.rows - i), columns = std::min(kBlock, p.columns - j);
    const int64_t at = (p.item * plan_.m + p.i + i) * plan_.n + p.j + j;
    if (cut_.sums > 1) return amx::store(sums, kBlock, rows, columns, nullptr, false, partial(args, p.sum) + at, plan_.n);
    if (plan_.combine != Combine::none) {
      combine(plan_.combine, args.in<BFloat16>(plan_.other()) + at, plan_.n, rows, columns, sums, kBlock);
    }
    if (!is_simple(plan_.epilogue)) finish<float>(sums, rows, columns, kBlock, std::exchange(bias, nullptr), plan_.epilogue);
    as_values(c_, row ? row : args.outputs[0], [&](auto* c) {
      amx::store(sums, kBlock, rows, columns, bias, plan_.epilogue == Epilogue::relu, c + (row ? j : at), plan_.n);
    });
  }

  void sum(const Arguments& args, const Next& next, int64_t begin, int64_t end) const {
    const int64_t first = begin * plan_.n, count = (end - begin) * plan_.n;
    float* total = partial(args, 0) + first;
    for (int64_t i = 1; i < cut_.sums; ++i) accumulate(total, partial(args, i) + first, count);
    if (plan_.combine != Combine::none) {
      combine(plan_.combine, args.in<BFloat16>(plan_.other()) + first, plan_.n, end - begin, plan_.n, total, plan_.n);
    }
    for (int64_t j = 0; j < plan_.n; j += kBlock) {
      const int64_t columns = std::min(kBlock, plan_.n - j);
      float bias[kBlock];
      if (plan_.bias) widen_(args.in<uint16_t>(2) + j, bias, static_cast<size_t>(columns));
      finish<float>(total + j, end - begin, columns, plan_.n, plan_.bias ? bias : nullptr, plan_.epilogue);
    }
    const size_t bytes = size_of(c_);
    std::byte* to = next ? thread_scratch(static_cast<size_t>(count) * bytes) : args.outputs[0] + static_cast<size_t>(first) * bytes;
    cast_loop(DType::float32, c_)(total, to, static_cast<size_t>(count));
    if (next) (*next)(first, first + count, to);
  }

  MatmulPlan plan_;
  bool packs_left_;
  Cut cut_;
  Side a_, b_;
  DType c_;
  bool shares_a_, shares_b_;
  UnaryLoop widen_ = cast_loop(DType::bfloat16, DType::float32);
};

}  // namespace

std::unique_ptr<Kernel> make_amx_matmul(const Request& r) {
  const bool half = r.inputs[0].dtype == DType::bfloat16 || static_cast<const Matmul&>(r.op).mixed != Mixed::no;
  if (!half || !amx::available()) return nullptr;
  return MatmulPlan(r).flops() == 0 ? nullptr : std::make_unique<AmxMatmul>(r);
}

}  // namespace crescent::cpu
