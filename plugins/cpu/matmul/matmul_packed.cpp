// Crescent's own matrix product. A panel is a block of b, a few columns wide, that is copied so
// that it fits the first-level cache; the sums of a tile of c stay in registers while all rows of
// the panel are read. a is read in place, transposed or not. The next operands are prefetched
// evenly during the computation, for two reasons. Rows of a are too short for the hardware
// prefetcher; without prefetches this costs up to a third of the time. Stores to rows of c that are
// not in the cache delay the loads that follow; this costs up to a quarter of the time.
#include <algorithm>

#include "matmul/blas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matmul/matmul_packed.cpp"
#include <hwy/foreach_target.h>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The sums of a tile take kRows x kVectors registers; further registers are needed for a row of the
// panel and an element of a.
constexpr int kRows = 6;
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kVectors = 4;
#else
constexpr int kVectors = 2;
#endif
constexpr int64_t kDepth = 128;  // rows per panel

/// Rows of b that a tile reads: in a panel, or in b itself.
template <class T>
struct Panel {
  const T* first;
  int64_t step;  // distance between rows, in elements
  int64_t depth, columns;
};

/// A block of rows in memory; the rows are `step` elements apart.
template <class T>
struct Block {
  const T* first = nullptr;
  int64_t step = 0, rows = 0, columns = 0;
};

template <class T>
constexpr int64_t kCacheLine = 64 / sizeof(T);  // elements per cache line

/// Prefetches the blocks that will be read next, evenly while tiles are computed: a core can wait
/// for some 16 cache lines at a time, and further prefetches would delay the loads that it needs
/// now.
template <class T>
class Prefetcher {
 public:
  void add(const Block<T>& block) {
    if (block.rows <= 0 || block.columns <= 0) return;
    blocks_[block_count_++] = block;
    pieces_left_ += block.rows * pieces(block.columns, kPieceSize);
  }
  /// Distributes all prefetches evenly over `turn_count` calls of turn().
  void begin(int64_t turn_count) {
    pieces_per_turn_ = pieces(pieces_left_, std::max<int64_t>(1, turn_count));
    if (block_count_ > 0) open(blocks_[0]);
  }
  HWY_INLINE void turn() {
    for (int64_t i = std::min(pieces_per_turn_, pieces_left_); i > 0; --i) fetch_piece();
  }

 private:
  static constexpr int64_t kPieceSize = 4 * kCacheLine<T>;

  void open(const Block<T>& block) {
    row_ = piece_ = block.first, row_stride_ = block.step, rows_left_ = block.rows,
    row_pieces_left_ = row_pieces_ = pieces(block.columns, kPieceSize);
  }
  HWY_INLINE void fetch_piece() {
#pragma GCC unroll 4
    for (int64_t e = 0; e < kPieceSize; e += kCacheLine<T>) __builtin_prefetch(piece_ + e, 0, 2);
    --pieces_left_;
    piece_ += kPieceSize;
    if (--row_pieces_left_ > 0) return;
    piece_ = row_ += row_stride_, row_pieces_left_ = row_pieces_;
    if (--rows_left_ == 0 && pieces_left_ > 0) open(blocks_[1]);
  }

  Block<T> blocks_[2];
  int block_count_ = 0;
  int64_t pieces_left_ = 0;      // the number of pieces that are left
  int64_t pieces_per_turn_ = 0;  // the number of pieces per call of turn()
  const T *row_ = nullptr, *piece_ = nullptr;
  int64_t row_stride_ = 0;       // the distance between rows of the current block
  int64_t rows_left_ = 0;        // the number of rows that are left of the current block
  int64_t row_pieces_left_ = 0;  // the number of pieces that are left of the current row
  int64_t row_pieces_ = 0;       // the number of pieces of a row
};

/// The operations on the sums of a tile before they are stored. Addends are added last, since small
/// products that are added one by one to a large addend would be lost by rounding.
template <class T>
struct TilePostOps {
  const T* bias;    // a row that is added to each row
  const T* addend;  // an array with rows as far apart as those of c
  const T* mask;    // an array with the same layout; sums are set to 0 where it is not positive
  bool relu;
};

/// Prefetches the rows of an array with which a tile of c is combined.
template <int kR, int kV, class T>
HWY_INLINE void fetch_tile(const T* x, int64_t ldx) {
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) __builtin_prefetch(x + r * ldx + v * kCacheLine<T>, 0, 2);
  }
}

// Computes kR rows of the product c = a b, to which the post-ops in `post_ops` are applied, and
// prefetches meanwhile: the rows of c, and the next rows of a from `next_rows` on or, if a is
// transposed, the blocks of `prefetcher`. Element (i,q) of a is at i * row + q * step. This is a
// separate function with few pointers, all in registers, because anything that GCC spills to memory
// or keeps in vector registers displaces multiplications or waits for stores of earlier tiles.
template <int kR, int kV, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void multiply_tile(D d, const T* a, int64_t row, int64_t step, const T* next_rows,
                                const Panel<T>& b, const TilePostOps<T>& post_ops, T* c,
                                int64_t ldc, Prefetcher<T>& prefetcher) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), tail = b.columns - (kV - 1) * lanes;
  hn::Vec<D> sum[kR][kV];
  auto for_each_sum = [&](auto&& f) HWY_ATTR {
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kV; ++v) f(r, v);
    }
  };
  // Conditions that are the same for all sums are tested once, because a branch for each sum took a
  // fifth of the time of the multiplications.
  auto for_each_vector = [&](auto&& f) HWY_ATTR {
    auto load = [d](const T* from) HWY_ATTR { return hn::LoadU(d, from); };
    auto store = [d](hn::Vec<D> x, T* to) HWY_ATTR { hn::StoreU(x, d, to); };
    if (tail >= lanes) return for_each_sum([&](int r, int v) HWY_ATTR { f(r, v, load, store); });
    for_each_sum([&](int r, int v) HWY_ATTR {
      if (v < kV - 1) return f(r, v, load, store);
      f(
          r, v, [d, tail](const T* from) HWY_ATTR { return load_part(d, from, tail); },
          [d, tail](hn::Vec<D> x, T* to) HWY_ATTR { store_part(x, d, to, tail); });
    });
  };
  for_each_sum([&](int r, int v) HWY_ATTR { sum[r][v] = hn::Zero(d); });
  if (post_ops.addend && post_ops.addend != c) fetch_tile<kR, kV>(post_ops.addend, ldc);
  if (post_ops.mask) fetch_tile<kR, kV>(post_ops.mask, ldc);
  const T *lower = a + kR / 2 * row, *right = b.first, *c_row = c;
  for (int64_t q = 0; q < b.depth; q += kCacheLine<T>) {
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) __builtin_prefetch(c_row + v * kCacheLine<T>, 1, 3);
    c_row += ldc;
    if (step == 1) {
#pragma GCC unroll 16
      for (int r = 0; r < kR; ++r) __builtin_prefetch(next_rows + q + r * row, 0, 3);
    } else {
      prefetcher.turn();
    }
#pragma GCC unroll 4
    for (int64_t remaining_rows = std::min(kCacheLine<T>, b.depth - q); remaining_rows > 0;
         --remaining_rows, a += step, lower += step, right += b.step) {
      hn::Vec<D> x[kV];
#pragma GCC unroll 8
      for (int v = 0; v < kV; ++v) x[v] = hn::LoadU(d, right + v * lanes);
#pragma GCC unroll 16
      for (int r = 0; r < kR; ++r) {
        const auto factor = hn::Set(d, r < kR / 2 ? a[r * row] : lower[(r - kR / 2) * row]);
#pragma GCC unroll 8
        for (int v = 0; v < kV; ++v) sum[r][v] = hn::MulAdd(factor, x[v], sum[r][v]);
      }
    }
  }
  if (post_ops.bias) {
    for_each_vector([&](int r, int v, auto load, auto) HWY_ATTR {
      sum[r][v] = hn::Add(sum[r][v], load(post_ops.bias + v * lanes));
    });
  }
  if (post_ops.addend) {
    for_each_vector([&](int r, int v, auto load, auto) HWY_ATTR {
      sum[r][v] = hn::Add(sum[r][v], load(post_ops.addend + r * ldc + v * lanes));
    });
  }
  if (post_ops.mask) {
    for_each_vector([&](int r, int v, auto load, auto) HWY_ATTR {
      sum[r][v] = hn::IfThenElseZero(hn::Gt(load(post_ops.mask + r * ldc + v * lanes), hn::Zero(d)),
                                     sum[r][v]);
    });
  }
  if (post_ops.relu)
    for_each_sum([&](int r, int v)
                     HWY_ATTR { sum[r][v] = activate(d, sum[r][v], ActivationKind::relu); });
  for_each_vector([&](int r, int v, auto, auto store)
                      HWY_ATTR { store(sum[r][v], c + r * ldc + v * lanes); });
}

/// Computes all rows of c, as many at a time as the registers can hold; the last rows in smaller
/// even numbers.
template <int kV, class T>
void multiply_all_rows(const Product<T>& p, const T* a, const Panel<T>& b, TilePostOps<T> post_ops,
                       T* c, Prefetcher<T>& prefetcher) {
  const hn::ScalableTag<T> d;
  const int64_t row = p.transpose_a ? 1 : p.lda, step = p.transpose_a ? p.lda : 1;
  int64_t i = 0;
  auto multiply_rows = [&]<int kR>(std::integral_constant<int, kR>) HWY_ATTR {
    const T* from = a + i * row;
    const T* next_rows = i + kR < p.m ? from + kR * row : a + b.depth * step;
    if (!p.transpose_a) prefetcher.turn();
    multiply_tile<kR, kV>(d, from, row, step, next_rows, b, post_ops, c + i * p.ldc, p.ldc,
                          prefetcher);
    if (post_ops.addend) post_ops.addend += kR * p.ldc;
    if (post_ops.mask) post_ops.mask += kR * p.ldc;
    i += kR;
  };
  // tiles with few columns can have more rows
  constexpr int kTallRows = std::min(2, kVectors / kV) * kRows;
  prefetcher.begin(std::max<int64_t>(1, p.m / kTallRows) *
                   (p.transpose_a ? pieces(b.depth, kCacheLine<T>) : 1));
  if constexpr (kTallRows > kRows) {
    while (p.m - i >= kTallRows) multiply_rows(std::integral_constant<int, kTallRows>());
  }
  while (p.m - i >= kRows && p.m - i != kRows + 2)
    multiply_rows(std::integral_constant<int, kRows>());
  while (p.m - i >= 4) multiply_rows(std::integral_constant<int, 4>());
  if (p.m - i >= 2) multiply_rows(std::integral_constant<int, 2>());
  if (p.m - i >= 1) multiply_rows(std::integral_constant<int, 1>());
}

/// Packs rows of kV whole vectors contiguously.
template <int kV, class T>
HWY_INLINE void pack_whole(const T* b, int64_t ldb, int64_t depth, T* panel) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
#pragma GCC unroll 4
  for (int64_t q = 0; q < depth; ++q, b += ldb, panel += kV * lanes) {
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) hn::Store(hn::LoadU(d, b + v * lanes), d, panel + v * lanes);
  }
}

/// Packs rows of b `width` apart; elements beyond the columns of b are 0.
template <class T>
HWY_INLINE void pack(const T* b, int64_t ldb, int64_t depth, int64_t columns, T* panel,
                     int64_t width) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (columns == kVectors * lanes) return pack_whole<kVectors>(b, ldb, depth, panel);
  if (columns == kVectors / 2 * lanes) return pack_whole<kVectors / 2>(b, ldb, depth, panel);
  for (int64_t q = 0; q < depth; ++q, b += ldb, panel += width) {
    int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) hn::Store(hn::LoadU(d, b + j), d, panel + j);
    if (j < columns) hn::Store(load_part(d, b + j, columns - j), d, panel + j);
  }
}

/// Transposes 4 elements of each of as many rows as a vector has lanes, into 4 vectors.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void transpose_4(D d, const T* from, int64_t step, T* to, int64_t width) {
  for (int64_t q = 0; q < 4; ++q) {
    for (int64_t j = 0; j < static_cast<int64_t>(hn::Lanes(d)); ++j)
      to[q * width + j] = from[j * step + q];
  }
}
#if HWY_TARGET != HWY_SCALAR
/// A vector whose 128-bit block g is the beginning of row first + 4 g.
template <class D>
HWY_INLINE hn::Vec<D> every_fourth_row(D d, const float* first, int64_t step) {
  auto rows = hn::LoadDup128(d, first + (static_cast<int64_t>(hn::Lanes(d)) - 4) * step);
#pragma GCC unroll 4
  for (int64_t i = static_cast<int64_t>(hn::Lanes(d)) - 4; i > 0; i -= 4) {
    rows = hn::IfThenElse(hn::FirstN(d, i), hn::LoadDup128(d, first + (i - 4) * step), rows);
  }
  return rows;
}
template <class D>
HWY_INLINE void transpose_4(D d, const float* from, int64_t step, float* to, int64_t width) {
  const auto r0 = every_fourth_row(d, from, step), r1 = every_fourth_row(d, from + step, step);
  const auto r2 = every_fourth_row(d, from + 2 * step, step),
             r3 = every_fourth_row(d, from + 3 * step, step);
  const auto even0 = hn::InterleaveLower(d, r0, r2), even1 = hn::InterleaveUpper(d, r0, r2);
  const auto odd0 = hn::InterleaveLower(d, r1, r3), odd1 = hn::InterleaveUpper(d, r1, r3);
  hn::StoreU(hn::InterleaveLower(d, even0, odd0), d, to);
  hn::StoreU(hn::InterleaveUpper(d, even0, odd0), d, to + width);
  hn::StoreU(hn::InterleaveLower(d, even1, odd1), d, to + 2 * width);
  hn::StoreU(hn::InterleaveUpper(d, even1, odd1), d, to + 3 * width);
}
#endif

/// Packs rows of b, which is stored as (columns, depth).
template <class T>
HWY_INLINE void pack_transposed(const T* b, int64_t ldb, int64_t depth, int64_t columns, T* panel,
                                int64_t width) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole_columns = columns / lanes * lanes,
                whole_depth = depth / 4 * 4;
  for (int64_t j = 0; j < whole_columns; j += lanes) {
    for (int64_t q = 0; q < whole_depth; q += 4)
      transpose_4(d, b + j * ldb + q, ldb, panel + q * width + j, width);
    for (int64_t q = whole_depth; q < depth; ++q) {
      for (int64_t i = j; i < j + lanes; ++i) panel[q * width + i] = b[i * ldb + q];
    }
  }
  for (int64_t j = whole_columns; j < width; ++j) {
    for (int64_t q = 0; q < depth; ++q) panel[q * width + j] = j < columns ? b[j * ldb + q] : T{0};
  }
}

/// The columns of b in one panel: their number, and the number with padding to whole vectors.
template <class T>
struct PanelColumns {
  PanelColumns(const Product<T>& p, int64_t first) : first(first) {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    count = std::min(kVectors * lanes, p.n - first), vectors = pieces(count, lanes),
    width = vectors * lanes;
  }
  int64_t first, count, vectors, width;
};

/// The block of b, in its memory layout, from which the panel that begins at row q is packed.
template <class T>
Block<T> block(const Product<T>& p, const PanelColumns<T>& columns, int64_t q) {
  const int64_t depth = std::min(kDepth, p.k - q), j = columns.first;
  if (p.is_packed) return {p.b + j * p.k + q * columns.width, columns.width, depth, columns.count};
  if (p.transpose_b) return {p.b + j * p.ldb + q, p.ldb, columns.count, depth};
  return {p.b + q * p.ldb + j, p.ldb, depth, columns.count};
}

template <class T>
void pack_block(const Product<T>& p, const PanelColumns<T>& columns, int64_t q, T* panel) {
  const Block<T> b = block(p, columns, q);
  if (p.transpose_b)
    pack_transposed(b.first, b.step, b.columns, columns.count, panel, columns.width);
  else
    pack(b.first, b.step, b.rows, columns.count, panel, columns.width);
}

/// The order of the panels of a product: for each group of columns of b, all ranges of rows; if a
/// is transposed, for each range of rows, all groups of columns, because the rows of a are then
/// long.
template <class T>
class PanelSequence {
 public:
  struct PanelStart {
    PanelColumns<T> columns;
    int64_t q;  // first row of b
  };
  explicit PanelSequence(const Product<T>& p)
      : p_(p),
        column_groups_(pieces(p.n, width())),
        row_ranges_(std::max<int64_t>(1, pieces(p.k, kDepth))) {
  }  // at least one panel, even if k is 0
  int64_t count() const { return column_groups_ * row_ranges_; }
  PanelStart operator[](int64_t number) const {
    const auto [column, row] = p_.transpose_a
                                   ? std::pair(number % column_groups_, number / column_groups_)
                                   : std::pair(number / row_ranges_, number % row_ranges_);
    return {PanelColumns<T>(p_, column * width()), row * kDepth};
  }
  /// The prefetches for the memory that is read after panel `number`: a block of b and, if a is
  /// transposed, a share of the next rows of a.
  Prefetcher<T> after(int64_t number) const {
    Prefetcher<T> prefetcher;
    if (number + 1 < count()) {
      const PanelStart next_panel = (*this)[number + 1];
      prefetcher.add(block(p_, next_panel.columns, next_panel.q));
    } else if (p_.next_b) {
      Product<T> next_product = p_;
      next_product.b = p_.next_b;
      prefetcher.add(block(next_product, PanelColumns<T>(next_product, 0), 0));
    }
    if (!p_.transpose_a) return prefetcher;
    const int64_t q = (number / column_groups_ + 1) * kDepth;
    if (q < p_.k)
      add_share(p_.a + q * p_.lda, std::min(kDepth, p_.k - q), number % column_groups_, prefetcher);
    else if (p_.next_a)
      add_share(p_.next_a, std::min(kDepth, p_.k), number % column_groups_, prefetcher);
    return prefetcher;
  }

 private:
  static int64_t width() {
    return kVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  }
  void add_share(const T* a, int64_t depth, int64_t part, Prefetcher<T>& prefetcher) const {
    const int64_t first = depth * part / column_groups_, last = depth * (part + 1) / column_groups_;
    prefetcher.add({a + first * p_.lda, p_.lda, last - first, p_.m});
  }

  const Product<T>& p_;
  int64_t column_groups_, row_ranges_;
};

/// Adds the rows of a panel to `sums`.
template <class T>
void add_rows(const Panel<T>& b, T* sums) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < b.columns; j += lanes) {
    const int64_t count = std::min(lanes, b.columns - j);
    auto row = [&](int64_t q) HWY_ATTR { return load_part(d, b.first + q * b.step + j, count); };
    auto s0 = load_part(d, sums + j, count), s1 = hn::Zero(d), s2 = s1, s3 = s1;
    int64_t q = 0;
    for (; q + 4 <= b.depth; q += 4) {
      s0 = hn::Add(s0, row(q)), s1 = hn::Add(s1, row(q + 1)), s2 = hn::Add(s2, row(q + 2)),
      s3 = hn::Add(s3, row(q + 3));
    }
    for (; q < b.depth; ++q) s0 = hn::Add(s0, row(q));
    store_part(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), d, sums + j, count);
  }
}

template <class T>
void multiply(const Product<T>& p) {
  // number of rows up to which a copy of b takes more time than it saves
  constexpr int64_t kFewRows = 2 * kRows;
  // number of elements of b that stay in the cache
  constexpr int64_t kMaxCachedElements = (256 << 10) / sizeof(T);
  const bool prefetches = p.m > kFewRows || p.n * p.k > kMaxCachedElements;
  HWY_ALIGN T memory[kDepth * kVectors * hn::MaxLanes(hn::ScalableTag<T>())];
  const PanelSequence<T> panels(p);
  for (int64_t number = 0; number < panels.count(); ++number) {
    const auto [columns, q] = panels[number];
    const int64_t j = columns.first;
    Panel<T> panel{memory, columns.width, std::min(kDepth, p.k - q), columns.count};
    if (p.is_packed || (!p.transpose_b && p.m <= kFewRows && columns.count == columns.width)) {
      const Block<T> current_block = block(p, columns, q);
      panel.first = current_block.first, panel.step = current_block.step;
    } else {
      pack_block(p, columns, q, memory);
    }
    const bool is_first = q == 0, is_last = q + kDepth >= p.k;
    if (p.column_sums) {
      if (is_first) std::fill_n(p.column_sums + j, columns.count, T{0});
      add_rows(panel, p.column_sums + j);
    }
    TilePostOps<T> post_ops{nullptr, p.c + j, nullptr, p.relu && is_last};
    if (is_first) {
      post_ops.bias = p.bias ? p.bias + j : nullptr;
      post_ops.addend = p.combine == Combine::add ? p.other + j : p.beta != 0 ? p.c + j : nullptr;
    }
    if (is_last && p.combine == Combine::mask) post_ops.mask = p.other + j;
    const T* a = p.a + (p.transpose_a ? q * p.lda : q);
    Prefetcher<T> prefetcher = prefetches ? panels.after(number) : Prefetcher<T>();
    if (columns.vectors == kVectors)
      multiply_all_rows<kVectors>(p, a, panel, post_ops, p.c + j, prefetcher);
    else if (columns.vectors == 1)
      multiply_all_rows<1>(p, a, panel, post_ops, p.c + j, prefetcher);
    else if (columns.vectors == 2)
      multiply_all_rows<std::min(2, kVectors)>(p, a, panel, post_ops, p.c + j, prefetcher);
    else
      multiply_all_rows<std::min(3, kVectors)>(p, a, panel, post_ops, p.c + j, prefetcher);
  }
}

template <class T>
void pack_all_panels(const Product<T>& p, T* packed) {
  for (PanelColumns<T> columns(p, 0); columns.first < p.n;
       columns = PanelColumns<T>(p, columns.first + columns.count)) {
    for (int64_t q = 0; q < p.k; q += kDepth)
      pack_block(p, columns, q, packed + columns.first * p.k + q * columns.width);
  }
}

void multiply_float(const Product<float>& p) { multiply(p); }
void multiply_double(const Product<double>& p) { multiply(p); }
void pack_panels_float(const Product<float>& p, float* packed) { pack_all_panels(p, packed); }
void pack_panels_double(const Product<double>& p, double* packed) { pack_all_panels(p, packed); }

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(pack_panels_float);
HWY_EXPORT(pack_panels_double);

template <>
void packed_gemm<float>(const Product<float>& p) {
  HWY_DYNAMIC_DISPATCH(multiply_float)(p);
}
template <>
void packed_gemm<double>(const Product<double>& p) {
  HWY_DYNAMIC_DISPATCH(multiply_double)(p);
}
template <>
void pack_panels<float>(const Product<float>& p, float* packed) {
  HWY_DYNAMIC_DISPATCH(pack_panels_float)(p, packed);
}
template <>
void pack_panels<double>(const Product<double>& p, double* packed) {
  HWY_DYNAMIC_DISPATCH(pack_panels_double)(p, packed);
}
}  // namespace crescent::cpu
#endif
