#include "crescent/registry/registration.h"
#include "update_rule.h"

namespace crescent {
namespace {

class SignDescent final : public UpdateRule {
 public:
  static void describe(Schema<SignDescent>& s) {
    s.doc("Steps of one length, against the sign of the gradient.")
        .field("learning_rate", &SignDescent::learning_rate_, "Step size.");
  }

 protected:
  std::vector<std::string> slots() const override { return {}; }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor&, Slots) override {
    w.assign(w.value() - rate * ops::sign(g));
  }
};

}  // namespace

CRESCENT_REGISTER(sign_descent) { registry.add<SignDescent>("SignDescent", {"sign_descent"}); }

}  // namespace crescent
