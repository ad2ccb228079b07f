// Matrix products by Crescent's own loops, on fixed tiles of the result and fixed partial sums.
#include <algorithm>

#include "elementwise/epilogue.h"
#include "kernel/typed.h"
#include "matmul/blas.h"
#include "matmul/matmul.h"
#include "threads/thread_scratch.h"
#include "threads/work_trace.h"

namespace crescent::cpu {
namespace {

/// Whether loops without panels are faster, as for few columns and for small products.
bool prefers_direct(const MatmulPlan& p) {
  constexpr int64_t kFewColumns = 16;
  constexpr double kFewFlops = 30e3;
  return (p.n <= kFewColumns && !p.transpose_b) ||
         p.flops() / static_cast<double>(p.count()) <= kFewFlops;
}

/// The offset in b, from row q on, of the columns that a tile reads.
int64_t offset_of_right(const MatmulPlan& p, const MatmulCut::Tile& t, int64_t q) {
  return p.transpose_b ? t.j * p.ldb() + q : q * p.ldb() + t.j;
}

/// The offset in the packed b, from row q on, of the panels that a tile reads.
int64_t packed_offset(const MatmulPlan& p, const MatmulCut::Tile& t, int64_t q) {
  return t.j * p.k + q * panel_columns(t.columns);
}

/// Packs b (k,n) or (n,k) for packed_gemm(), tile by tile.
template <class T>
class PackPanels final : public Kernel {
 public:
  PackPanels(const MatmulPlan& plan, const MatmulCut& cut) : plan_(plan), cut_(cut) {}

  void run(const Arguments& a) const override {
    a.threads.parallel(cut_.column_tiles * cut_.sums, [&](int64_t part, int) {
      const MatmulCut::Tile t = cut_.tile(part / cut_.sums);
      const int64_t q = part % cut_.sums * cut_.depth;
      Product<T> p{false, plan_.transpose_b, 0, t.columns, std::min(cut_.depth, plan_.k - q)};
      p.b = a.in<T>(0) + offset_of_right(plan_, t, q), p.ldb = plan_.ldb();
      pack_panels(p, a.out<T>(0) + packed_offset(plan_, t, q));
    });
  }
  std::string name() const override { return "highway"; }

 private:
  MatmulPlan plan_;
  MatmulCut cut_;
};

template <class T>
class TiledMatmul final : public EpilogueHost {
 public:
  explicit TiledMatmul(const Request& r)
      : EpilogueHost(r),
        plan_(r),
        few_threads_cut_(plan_, true),
        many_threads_cut_(plan_, true, MatmulCut::ThreadCount::many),
        dtype_(r.outputs[0].dtype),
        is_direct_(prefers_direct(plan_)),
        gemm_(is_direct_ ? direct_gemm<T> : packed_gemm<T>) {}

  InputConversion prepare(int input) override {
    if (input != 1 || is_direct_ || plan_.count() > 1) return {};
    is_packed_ = true;
    many_threads_cut_ = MatmulCut(plan_, true, MatmulCut::ThreadCount::many_same_columns);
    return {std::make_unique<PackPanels<T>>(plan_, few_threads_cut_),
            {dtype_, {plan_.k, panel_columns(plan_.n)}},
            concat("panels ", plan_.k, " ", plan_.n, " of ", few_threads_cut_.depth, " ",
                   few_threads_cut_.columns, plan_.transpose_b ? " transposed" : "")};
  }
  void run(const Arguments& a) const override {
    MaybeEpilogue epilogue;
    begin(a, epilogue);
    const MatmulCut& cut = cut_for(a.threads);
    // Partial sums are the outermost index, so that a thread mostly gets one range along k. In the
    // gradient of a weight, k is the batch: the thread has often just computed the same samples in
    // the steps before, and they are still in its cache.
    const int64_t parts = plan_.count() * cut.tiles() * sum_count();
    a.threads.parallel(parts, [&](int64_t index, int) {
      compute(a, epilogue, part(cut, index), part(cut, std::min(index + 1, parts - 1)));
    });
    if (sum_count() == 1) return;
    a.threads.blocks(plan_.count() * plan_.m, 32,
                     [&](int64_t begin, int64_t end) { sum(a, epilogue, begin, end); });
    column_sums_.end(a, plan_, sum_count(), column_scratch(a));
  }
  bool sum_columns(int64_t columns, int output) override {
    if (column_sums_.is_enabled() || is_direct_ || !plan_.has_gradient_layout(columns))
      return false;
    column_sums_.enable(output);
    return true;
  }

 protected:
  /// Whether the epilogue can get whole rows. A tile of whole rows reads all of b, so b must be
  /// small in comparison to the result and not packed for other tiles.
  bool can_pass_rows() const override {
    const bool is_worthwhile =
        few_threads_cut_.column_tiles == 1 || (4 * plan_.k <= plan_.m && !is_packed_);
    return sum_count() > 1 || (is_worthwhile && plan_.count() * few_threads_cut_.tiles() > 1);
  }
  void prepare_for_epilogue() override {
    if (sum_count() > 1) return;
    for (MatmulCut* cut : {&few_threads_cut_, &many_threads_cut_}) {
      if (cut->column_tiles > 1) cut->use_whole_rows();
    }
  }
  size_t product_scratch_bytes() const override {
    return sum_count() > 1 ? static_cast<size_t>((sum_count() - sums_in_output()) * result_size() +
                                                 column_sums_.scratch_values(plan_, sum_count())) *
                                 sizeof(T)
                           : 0;
  }
  std::string product_name() const override {
    return std::string(is_direct_ ? "highway" : "highway packed") +
           (column_sums_.is_enabled() ? " with column sums" : "");
  }
  double product_flops() const override { return plan_.flops(); }

 private:
  /// Chooses the cut by the number of threads. Profiles always use the cut for many threads,
  /// because they estimate times on many cores.
  const MatmulCut& cut_for(const CpuThreads& threads) const {
    constexpr int kMaxFewThreads = 8;
    return threads.threads() > kMaxFewThreads || WorkTrace::current() ? many_threads_cut_
                                                                      : few_threads_cut_;
  }
  int64_t sum_count() const { return few_threads_cut_.sums; }
  int64_t result_size() const { return plan_.count() * plan_.m * plan_.n; }
  /// The number of partial sums that are stored in the output: one, or none if an epilogue reads
  /// the sum.
  int64_t sums_in_output() const { return has_epilogue() ? 0 : 1; }
  T* partial_sum(const Arguments& a, int64_t sum) const {
    return sum < sums_in_output()
               ? a.out<T>(0)
               : reinterpret_cast<T*>(a.scratch) + (sum - sums_in_output()) * result_size();
  }

  T* column_scratch(const Arguments& a) const {
    return reinterpret_cast<T*>(a.scratch) + (sum_count() - sums_in_output()) * result_size();
  }

  /// A tile of partial sum `sum`, whose first term is number q.
  struct PartialTile {
    MatmulCut::Tile tile;
    int64_t sum, q;
  };
  PartialTile part(const MatmulCut& cut, int64_t index) const {
    const int64_t tiles = plan_.count() * cut.tiles(), sum = index / tiles;
    return {cut.tile(index % tiles), sum, sum * cut.depth};
  }
  const T* left_operand(const Arguments& a, const PartialTile& part) const {
    const auto& [t, sum, q] = part;
    return a.in<T>(0) + plan_.a[t.item] +
           (plan_.transpose_a ? q * plan_.lda() + t.i : t.i * plan_.lda() + q);
  }
  const T* right_operand(const Arguments& a, const PartialTile& part) const {
    const auto& [t, sum, q] = part;
    return a.in<T>(1) + (is_packed_ ? packed_offset(plan_, t, q)
                                    : plan_.b[t.item] + offset_of_right(plan_, t, q));
  }

  /// Computes a part. `next_part` is the part that the thread will probably compute next, whose
  /// operands are prefetched.
  void compute(const Arguments& a, const MaybeEpilogue& epilogue, const PartialTile& part,
               const PartialTile& next_part) const {
    const auto& [t, sum, q] = part;
    const int64_t offset = (t.item * plan_.m + t.i) * plan_.n + t.j;
    Product<T> p{plan_.transpose_a, plan_.transpose_b, t.rows, t.columns,
                 std::min(few_threads_cut_.depth, plan_.k - q)};
    p.a = left_operand(a, part), p.lda = plan_.lda(), p.next_a = left_operand(a, next_part);
    p.b = right_operand(a, part), p.next_b = right_operand(a, next_part);
    if (column_sums_.is_enabled() && t.i == 0)
      p.column_sums =
          column_sums_.partial_sums(a, plan_, sum_count(), sum, column_scratch(a)) + t.j;
    p.ldb = plan_.ldb(), p.is_packed = is_packed_;
    p.c = partial_sum(a, sum) + offset, p.ldc = plan_.n;
    if (sum_count() > 1) return gemm_(p);
    if (epilogue) p.c = reinterpret_cast<T*>(thread_scratch(t.rows * plan_.n * sizeof(T)));
    multiply(a, p, offset, t.j);
    if (epilogue) (*epilogue)(offset, offset + t.rows * plan_.n, p.c);
  }

  /// Computes the rows of p from column j on, which begin at element `offset` of the output, with
  /// all post-ops. packed_gemm() adds the bias before it combines c with another array, so it
  /// cannot be used for a bias together with a mask; its only activation is relu.
  void multiply(const Arguments& a, Product<T>& p, int64_t offset, int64_t j) const {
    const T* bias = plan_.has_bias ? a.in<T>(2) + j : nullptr;
    const T* other =
        plan_.combine == Combine::none ? nullptr : a.in<T>(plan_.combined_index()) + offset;
    if (!is_direct_ && is_cheap(plan_.activation) && !(bias && plan_.combine == Combine::mask)) {
      p.bias = bias, p.combine = plan_.combine, p.other = other,
      p.relu = plan_.activation == ActivationKind::relu;
      return gemm_(p);
    }
    gemm_(p);
    if (other) combine(plan_.combine, other, plan_.n, p.m, p.n, p.c, p.ldc);
    finish(p.c, p.m, p.n, p.ldc, bias, plan_.activation);
  }

  void sum(const Arguments& a, const MaybeEpilogue& epilogue, int64_t begin, int64_t end) const {
    const int64_t n = plan_.n, first = begin * n, count = (end - begin) * n;
    T* c = partial_sum(a, 0) + first;
    for (int64_t i = 1; i < sum_count(); ++i) accumulate(c, partial_sum(a, i) + first, count);
    if (plan_.combine != Combine::none)
      combine(plan_.combine, a.in<T>(plan_.combined_index()) + first, n, end - begin, n, c, n);
    finish(c, end - begin, n, n, plan_.has_bias ? a.in<T>(2) : nullptr, plan_.activation);
    if (epilogue) (*epilogue)(first, first + count, c);
  }

  MatmulPlan plan_;
  /// The cuts for few and for many threads, which give the same sums.
  MatmulCut few_threads_cut_, many_threads_cut_;
  DType dtype_;
  bool is_direct_, is_packed_ = false;
  ColumnSums column_sums_;
  Gemm<T> gemm_;
};

}  // namespace

std::unique_ptr<Kernel> make_tiled_matmul(const Request& r) {
  MatmulPlan plan(r);
  if (plan.flops() == 0) return nullptr;  // empty products are left to the direct kernel
  return make_typed<TiledMatmul>(r, r.outputs[0].dtype);
}

}  // namespace crescent::cpu
