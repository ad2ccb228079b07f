#include "crescent/plugin.h"

using namespace crescent;

struct TwoWidths final : UnaryLayer {
  static void describe(Schema<TwoWidths>& s) {
    s.doc("x").field("units", &TwoWidths::units, "x").field("units", &TwoWidths::width, "y");
  }
  Tensor call(const Tensor& x, const Call&) override { return x; }
  int64_t units = 1, width = 2;
};

CRESCENT_PLUGIN("bad.declared_twice", "1.0.0") { registry.add<TwoWidths>("TwoWidths"); }
