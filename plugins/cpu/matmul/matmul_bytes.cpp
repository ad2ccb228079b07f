// Matrix products of 8-bit integers with results of 32 bits. The sums are exact, so neither tiles
// nor threads change a result.
#include "elementwise/epilogue.h"
#include "matmul/byte_panels.h"
#include "matmul/matmul.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kMinPackedBytes = 1 << 15;  // fewest bytes that a thread packs at a time

bytes::RightMatrix right_matrix_of(const MatmulPlan& p) {
  return {p.transpose_b ? 1 : p.n, p.transpose_b ? p.k : 1, {p.k}, p.n};
}

class ByteMatmul final : public EpilogueHost {
 public:
  explicit ByteMatmul(const Request& r)
      : EpilogueHost(r),
        plan_(r),
        cut_(plan_, false),
        right_(right_matrix_of(plan_)),
        multiply_(bytes::fastest_product()) {}

  InputConversion prepare(int input) override {
    if (input != 1 || plan_.count() > 1) return {};
    is_packed_ = true;
    return bytes::conversion_to_panels(right_);
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
  /// Whether the epilogue can get whole rows. A tile of whole rows reads all of b, so b must be
  /// small in comparison to the result.
  bool can_pass_rows() const override { return cut_.column_tiles == 1 || 4 * plan_.k <= plan_.m; }
  void prepare_for_epilogue() override {
    if (cut_.column_tiles > 1) cut_.use_whole_rows();
  }
  size_t product_scratch_bytes() const override {
    const int64_t right = is_packed_ ? 0 : plan_.count() * right_.bytes();
    return static_cast<size_t>(right + plan_.count() * plan_.m * depth());
  }
  std::string product_name() const override { return bytes::name_of_fastest(); }
  double product_flops() const override { return plan_.flops(); }

 private:
  int64_t depth() const { return right_.depth.padded(); }
  /// The packed matrices b in scratch memory; behind them are the packed rows of all matrices a.
  int8_t* right_scratch(const Arguments& a) const { return reinterpret_cast<int8_t*>(a.scratch); }
  uint8_t* left_scratch(const Arguments& a) const {
    return reinterpret_cast<uint8_t*>(a.scratch) +
           (is_packed_ ? 0 : plan_.count() * right_.bytes());
  }

  void pack_left(const Arguments& a) const {
    const int64_t row_step = plan_.transpose_a ? 1 : plan_.k,
                  step = plan_.transpose_a ? plan_.m : 1;
    a.threads.blocks(
        plan_.count() * plan_.m, 1 + kMinPackedBytes / depth(), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row)
            bytes::pack_row(a.in<int8_t>(0) + plan_.a[row / plan_.m] + row % plan_.m * row_step,
                            step, plan_.k, left_scratch(a) + row * depth());
        });
  }
  void pack_right(const Arguments& a) const {
    const int64_t panels = right_.panel_count();
    a.threads.blocks(plan_.count() * panels, 1 + kMinPackedBytes / bytes::panel_bytes(right_.depth),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i)
                         right_.pack(a.in<int8_t>(1) + plan_.b[i / panels], i % panels,
                                     right_scratch(a) + i / panels * right_.bytes());
                     });
  }

  void compute(const Arguments& a, const MaybeEpilogue& epilogue, const MatmulCut::Tile& t) const {
    const int8_t* right = is_packed_ ? a.in<int8_t>(1) : right_scratch(a) + t.item * right_.bytes();
    const int64_t first_row = t.item * plan_.m + t.i, offset = first_row * plan_.n + t.j;
    int32_t* c =
        epilogue ? reinterpret_cast<int32_t*>(thread_scratch(t.rows * plan_.n * sizeof(int32_t)))
                 : a.out<int32_t>(0) + offset;
    multiply_({left_scratch(a) + first_row * depth(), depth()}, t.rows,
              right + t.j / bytes::kPanelColumns * bytes::panel_bytes(right_.depth), right_.depth,
              t.columns, {c, plan_.n});
    if (epilogue) (*epilogue)(offset, offset + t.rows * plan_.n, c);
  }

  MatmulPlan plan_;
  MatmulCut cut_;
  bytes::RightMatrix right_;
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
