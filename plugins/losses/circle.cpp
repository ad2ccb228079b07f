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
        .field("remove_diagonal", &Circle::remove_diagonal_, "Do not compare a vector with itself.")
        .field("ref_labels", &Circle::reference_labels_,
               "Class numbers (references) of the vectors in ref_embeddings; null: the targets.")
        .not_stored()
        .field("ref_embeddings", &Circle::reference_embeddings_,
               "Unit vectors (references, size) with which the predicted ones are compared; null: "
               "the predicted ones.")
        .not_stored();
  }
  bool sparse_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    if (y_pred.rank() != 2)
      fail("circle: expected embeddings of shape (batch, size), got shape ", y_pred.shape());
    const Tensor labels =
        reshape(cast(class_numbers(*this, y_true, y_pred), DType::int32), {-1, 1});
    const Tensor reference_vectors =
        reference_embeddings_ ? cast(reference_embeddings_, y_pred.dtype()) : y_pred;
    const Tensor reference_labels = reference_labels_
                                        ? reshape(cast(reference_labels_, DType::int32), {1, -1})
                                        : transpose(labels);
    if (reference_vectors.rank() != 2 || reference_vectors.dim(0) != reference_labels.dim(1))
      fail("circle: expected ref_embeddings of shape (references, size) and as many ref_labels, ",
           "got shapes ", reference_vectors.shape(), " and ", reference_labels.shape());
    const Tensor distance = relu(1.0 - matmul(y_pred, reference_vectors, false, true));
    Tensor is_same = equal(labels, reference_labels);
    const Tensor is_other = logical_not(is_same);
    if (remove_diagonal_) {
      const Tensor is_itself = cast(eye(y_pred.dim(0), reference_vectors.dim(0)), DType::boolean);
      is_same = logical_and(is_same, logical_not(is_itself));
    }
    const Tensor same_class_logits = relu(margin_ + distance) * (margin_ - distance) * -gamma_;
    const Tensor other_class_logits =
        relu(1 + margin_ - distance) * (1 - margin_ - distance) * gamma_;
    const Tensor values =
        softplus(logsumexp(where(is_same, same_class_logits, kVanishingLogit), {1}) +
                 logsumexp(where(is_other, other_class_logits, kVanishingLogit), {1}));
    return values.with_mask(greater(values, 0));
  }

 private:
  double gamma_ = 80, margin_ = 0.4;
  bool remove_diagonal_ = true;
  Tensor reference_labels_, reference_embeddings_;
};

}  // namespace

CRESCENT_REGISTER(circle) { registry.add<Circle>("Circle", {"circle"}); }

}  // namespace crescent
