#include "matmul/byte_panels.h"

#include <algorithm>

namespace crescent::cpu::bytes {
namespace {

class PackPanels final : public Kernel {
 public:
  explicit PackPanels(const RightMatrix& matrix) : matrix_(matrix) {}
  void run(const Arguments& a) const override {
    a.threads.parallel(matrix_.panel_count(), [&](int64_t panel, int) {
      matrix_.pack(a.in<int8_t>(0), panel, a.out<int8_t>(0));
    });
  }
  std::string name() const override { return "loop"; }

 private:
  RightMatrix matrix_;
};

}  // namespace

void RightMatrix::pack(const int8_t* from, int64_t panel, int8_t* to) const {
  const int64_t j = panel * kPanelColumns;
  pack_panel(from + j * column_step, row_step, column_step, depth,
             std::min(kPanelColumns, columns - j), to + panel * panel_bytes(depth));
}

InputConversion conversion_to_panels(const RightMatrix& m) {
  return {std::make_unique<PackPanels>(m),
          {DType::int8, {m.bytes()}},
          concat("byte panels ", m.depth.runs, " x ", m.depth.length, " ", m.columns, " by ",
                 m.row_step, " ", m.column_step)};
}

}  // namespace crescent::cpu::bytes
