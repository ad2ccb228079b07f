#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class Shift final : public UnaryLayer {
 public:
  static void describe(Schema<Shift>& s) {
    s.doc("Adds a number.").field("offset", &Shift::offset_, "What is added.");
  }
  Tensor call(const Tensor& x, const Call&) override { return x + offset_; }

 private:
  double offset_ = 1;
};

}  // namespace

CRESCENT_REGISTER(shift) { registry.add<Shift>("Shift"); }

}  // namespace crescent
