#include "crescent/registry/registration.h"
#include "metrics.h"

namespace crescent {
namespace {

class LargestError final : public Metric {
 public:
  static void describe(Schema<LargestError>& s) {
    s.doc("The largest |y_pred - y_true|.");
    describe_name(s, &LargestError::name_, &LargestError::dtype_);
  }
  LargestError() : largest_(add_variable("largest", {}, kSums)) {}
  Direction direction() const override { return Direction::down; }
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor&) override {
    const Tensor error = ops::abs(ops::cast(y_pred, kSums) - ops::cast(y_true, kSums));
    largest_.assign(ops::maximum(largest_.value(), ops::max(error, {})));
  }
  Tensor result() const override { return as_result(largest_.value()); }

 private:
  Variable largest_;
};

}  // namespace

CRESCENT_REGISTER(largest_error) { add_metric<LargestError>(registry, "LargestError"); }

}  // namespace crescent
