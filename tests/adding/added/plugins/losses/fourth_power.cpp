#include "crescent/registry/registration.h"
#include "losses.h"

namespace crescent {
namespace {

class MeanFourthPower final : public Loss {
 public:
  static void describe(Schema<MeanFourthPower>& s) { s.doc("The mean of (y_pred - y_true)^4."); }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [truth, prediction] = matched(*this, y_true, y_pred);
    return ops::mean(ops::square(ops::square(prediction - truth)), {-1});
  }
};

}  // namespace

CRESCENT_REGISTER(fourth_power) {
  registry.add<MeanFourthPower>("MeanFourthPower", {"mean_fourth_power"});
}

}  // namespace crescent
