// Losses of segmentation, which measure the overlap of two sets of pixels.
#include "crescent/registry/registration.h"
#include "losses.h"

namespace crescent {
namespace {

using namespace ops;

/// The base of both losses: computes sums over `axis`, or over all axes.
class Overlap : public Loss {
 protected:
  template <class T>
  static void describe_axis(Schema<T>& s) {
    s.field("axis", &Overlap::axis_, "Axes to sum over; none: all, including the batch.");
  }
  Tensor sum_over_axes(const Tensor& x) const {
    return axis_ ? sum(x, Axes(axis_->begin(), axis_->end())) : sum(x);
  }

 private:
  std::optional<std::vector<int64_t>> axis_;
};

class Dice final : public Overlap {
 public:
  static void describe(Schema<Dice>& s) {
    s.doc("1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred))");
    describe_axis(s);
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [truth, p] = matched(*this, y_true, y_pred);
    return 1.0 -
           2.0 * sum_over_axes(truth * p) / (sum_over_axes(truth) + sum_over_axes(p) + kEpsilon);
  }
};

class Tversky final : public Overlap {
 public:
  static void describe(Schema<Tversky>& s) {
    s.doc(
         "1 - both / (both + alpha * sum(y_true * (1 - y_pred)) + beta * sum((1 - y_true) * "
         "y_pred)), where both = sum(y_true * y_pred)")
        .field("alpha", &Tversky::alpha_, "Weight of false negatives.")
        .field("beta", &Tversky::beta_, "Weight of false positives.");
    describe_axis(s);
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [truth, p] = matched(*this, y_true, y_pred);
    const Tensor true_positives = sum_over_axes(p * truth);
    const Tensor false_negatives = sum_over_axes(truth * (1.0 - p)),
                 false_positives = sum_over_axes((1.0 - truth) * p);
    return 1.0 - true_positives / (true_positives + false_negatives * alpha_ +
                                   false_positives * beta_ + kEpsilon);
  }

 private:
  double alpha_ = 0.5, beta_ = 0.5;
};

}  // namespace

CRESCENT_REGISTER(overlap) {
  registry.add<Dice>("Dice", {"dice"});
  registry.add<Tversky>("Tversky", {"tversky"});
}

}  // namespace crescent
