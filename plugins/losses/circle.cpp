// Circle loss (Sun et al. 2020), which makes embeddings of one class similar and those of different
// classes dissimilar.
#include "crescent/registry/registration.h"
#include "losses.h"

namespace crescent {
namespace {

using namespace ops;

// A logit whose exponential is 0, but which, unlike minus infinity, causes no infinities in
// gradients.
constexpr double kVanishingLogit = -1e30;

class Circle final : public Loss {
 public:
  static void describe(Schema<Circle>& s) {
    s.doc("Circle loss (Sun et al. 2020) of class numbers and unit vectors (batch, size).")
        .field("gamma", &Circle::gamma_, "Scale of the similarities.")
        .field("margin", &Circle::margin_,
               "Margin between similarities within and between classes.")
        .field("remove_diagonal", &Circle::remove_diagonal_,
               "Do not compare a vector with itself.");
  }
  bool sparse_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    if (y_pred.rank() != 2)
      fail("circle: expected embeddings of shape (batch, size), got shape ", y_pred.shape());
    const Tensor labels =
        reshape(cast(class_numbers(*this, y_true, y_pred), DType::int32), {-1, 1});
    const Tensor distance = relu(1.0 - matmul(y_pred, y_pred, false, true));
    Tensor is_same = equal(labels, transpose(labels));
    const Tensor is_other = logical_not(is_same);
    if (remove_diagonal_) {
      const int64_t n = y_pred.dim(0);
      is_same = logical_and(is_same, logical_not(cast(eye(n, n), DType::boolean)));
    }
    const Tensor same_logits = relu(margin_ + distance) * (margin_ - distance) * -gamma_;
    const Tensor other_logits = relu(1 + margin_ - distance) * (1 - margin_ - distance) * gamma_;
    const Tensor values = softplus(logsumexp(where(is_same, same_logits, kVanishingLogit), {1}) +
                                   logsumexp(where(is_other, other_logits, kVanishingLogit), {1}));
    return values.with_mask(greater(values, 0));
  }

 private:
  double gamma_ = 80, margin_ = 0.4;
  bool remove_diagonal_ = true;
};

}  // namespace

CRESCENT_REGISTER(circle) { registry.add<Circle>("Circle", {"circle"}); }

}  // namespace crescent
