// Matrix products of 8-bit integers with results of 32 bits. The sums are exact, so neither tiles
// nor threads change a result.
#include "elementwise/epilogue.h"
#include "matmul/bytes.h"
#include "matmul/matmul.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;  // fewest bytes that a thread packs at a time

/// Packs panel `panel` of the matrix b, whose element (0,0) is at `b`.
void pack_panel(const MatmulPlan& p, const int8_t* b, int64_t panel, int8_t* to) {
  const int64_t j = panel * bytes::kPanelColumns, row_step = p.transpose_b ? 1 : p.n,
                column_step = p.transpose_b ? p.k : 1;
  bytes::pack_panel(b + j * column_step, row_step, column_step, p.k,
                    std::min(bytes::kPanelColumns, p.n - j), to + panel * bytes::panel_bytes(p.k));
}

/// Packs b, a weight that seldom changes.
class PackWeight final : public Kernel {
 public:
  explicit PackWeight(const MatmulPlan& plan) : plan_(plan) {}
  void run(const Arguments& a) const override {
    a.threads.parallel(bytes::panels(plan_.n), [&](int64_t panel, int) {
      pack_panel(plan_, a.in<int8_t>(0), panel, a.out<int8_t>(0));
    });
  }
  std::string name() const override { return "loop"; }

 private:
  MatmulPlan plan_;
};

class ByteMatmul final : public EpilogueHost {
 public:
  explicit ByteMatmul(const Request& r)
      : EpilogueHost(r), plan_(r), cut_(plan_, false), multiply_(bytes::fastest_product()) {}

  Prepared prepare(int input) override {
    if (input != 1 || plan_.count() > 1) return {};
    is_packed_ = true;
    return {std::make_unique<PackWeight>(plan_),
            {DType::int8, {right_bytes()}},
            concat("byte panels ", plan_.k, " ", plan_.n, plan_.transpose_b ? " transposed" : "")};
  }
  void run(const Arguments& a) const override {
    MaybeEpilogue epilogue;
    begin(a, epilogue);
    pack_left(a);
    if (!is_packed_) pack_right(a);
    a.threads.parallel(plan_.count() * cut_.tiles(),
                       [&](int64_t number, int) { compute(a, epilogue, cut_.tile(number)); });
  }

 protected:
  /// A tile of whole rows reads all of b, so b must be small in comparison to the result.
  bool has_rows() const override { return cut_.column_tiles == 1 || 4 * plan_.k <= plan_.m; }
  void prepare_for_epilogue() override {
    if (cut_.column_tiles > 1) cut_.take_whole_rows();
  }
  size_t own_scratch_bytes() const override {
    const int64_t right = is_packed_ ? 0 : plan_.count() * right_bytes();
    return static_cast<size_t>(right + plan_.count() * plan_.m * depth());
  }
  std::string own_name() const override { return bytes::name_of_fastest(); }
  double own_flops() const override { return plan_.flops(); }

 private:
  int64_t depth() const { return bytes::padded_depth(plan_.k); }
  int64_t right_bytes() const { return bytes::panels(plan_.n) * bytes::panel_bytes(plan_.k); }
  /// The packed matrices b in scratch memory; behind them are the packed rows of all matrices a.
  int8_t* right_scratch(const Arguments& a) const { return reinterpret_cast<int8_t*>(a.scratch); }
  uint8_t* left_scratch(const Arguments& a) const {
    return reinterpret_cast<uint8_t*>(a.scratch) + (is_packed_ ? 0 : plan_.count() * right_bytes());
  }

  void pack_left(const Arguments& a) const {
    const int64_t row_step = plan_.transpose_a ? 1 : plan_.k,
                  step = plan_.transpose_a ? plan_.m : 1;
    a.threads.blocks(
        plan_.count() * plan_.m, 1 + kGrain / depth(), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row)
            bytes::pack_row(a.in<int8_t>(0) + plan_.a[row / plan_.m] + row % plan_.m * row_step,
                            step, plan_.k, left_scratch(a) + row * depth());
        });
  }
  void pack_right(const Arguments& a) const {
    const int64_t panels = bytes::panels(plan_.n);
    a.threads.blocks(plan_.count() * panels, 1 + kGrain / bytes::panel_bytes(plan_.k),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i)
                         pack_panel(plan_, a.in<int8_t>(1) + plan_.b[i / panels], i % panels,
                                    right_scratch(a) + i / panels * right_bytes());
                     });
  }

  void compute(const Arguments& a, const MaybeEpilogue& epilogue, const MatmulCut::Tile& t) const {
    const int8_t* right = is_packed_ ? a.in<int8_t>(1) : right_scratch(a) + t.item * right_bytes();
    const int64_t first_row = t.item * plan_.m + t.i, at = first_row * plan_.n + t.j;
    int32_t* c =
        epilogue ? reinterpret_cast<int32_t*>(thread_scratch(t.rows * plan_.n * sizeof(int32_t)))
                 : a.out<int32_t>(0) + at;
    multiply_(left_scratch(a) + first_row * depth(), t.rows,
              right + t.j / bytes::kPanelColumns * bytes::panel_bytes(plan_.k), plan_.k, t.columns,
              c, plan_.n);
    if (epilogue) (*epilogue)(at, at + t.rows * plan_.n, c);
  }

  MatmulPlan plan_;
  MatmulCut cut_;
  bool is_packed_ = false;
  bytes::Multiply multiply_;
};

}  // namespace

std::unique_ptr<Kernel> make_byte_matmul(const Request& r) {
  const bool are_bytes = r.inputs[0].dtype == DType::int8 && r.inputs[1].dtype == DType::int8;
  if (!are_bytes || &base_of(r.op) != &r.op || MatmulPlan(r).flops() == 0) return nullptr;
  return std::make_unique<ByteMatmul>(r);
}

}  // namespace crescent::cpu
