// Regularizers: penalties on weights or outputs, l1 * sum |x| + l2 * sum x^2 (without a factor
// 1/2).
#include <cmath>

#include "crescent/plugin.h"

namespace crescent {
namespace {

Tensor absolute_sum(const Tensor& x, double factor) { return ops::sum(ops::abs(x)) * factor; }
Tensor square_sum(const Tensor& x, double factor) { return ops::sum(ops::square(x)) * factor; }

/// Fails for an infinite factor, with which every loss would be infinite or not a number.
void check_finite(const char* option, double factor) {
  if (!std::isfinite(factor)) fail(option, ": expected a finite number, got ", factor);
}

class L1 final : public Regularizer {
 public:
  static void describe(Schema<L1>& s) {
    s.doc("l1 * sum |x|").field("l1", &L1::l1_, "Factor.").alias("l").min(0);
  }
  void configured() override { check_finite("l1", l1_); }
  Tensor operator()(const Tensor& x) const override { return absolute_sum(x, l1_); }

 private:
  double l1_ = 0.01;
};

class L2 final : public Regularizer {
 public:
  static void describe(Schema<L2>& s) {
    s.doc("l2 * sum x^2").field("l2", &L2::l2_, "Factor.").alias("l").min(0);
  }
  void configured() override { check_finite("l2", l2_); }
  Tensor operator()(const Tensor& x) const override { return square_sum(x, l2_); }

 private:
  double l2_ = 0.01;
};

class L1L2 final : public Regularizer {
 public:
  static void describe(Schema<L1L2>& s) {
    s.doc("l1 * sum |x| + l2 * sum x^2")
        .field("l1", &L1L2::l1_, "Factor of the sum of absolute values.")
        .min(0)
        .field("l2", &L1L2::l2_, "Factor of the sum of squares.")
        .min(0);
  }
  void configured() override { check_finite("l1", l1_), check_finite("l2", l2_); }
  Tensor operator()(const Tensor& x) const override {
    return absolute_sum(x, l1_) + square_sum(x, l2_);
  }

 private:
  double l1_ = 0, l2_ = 0;
};

class OrthogonalRegularizer final : public Regularizer {
 public:
  static void describe(Schema<OrthogonalRegularizer>& s) {
    s.doc("factor * mean of |cosine of the angle| over pairs of rows or columns")
        .field("factor", &OrthogonalRegularizer::factor_, "Factor.")
        .min(0)
        .field("mode", &OrthogonalRegularizer::mode_,
               "\"rows\" or \"columns\" are to be orthogonal.")
        .choices({"rows", "columns"});
  }
  void configured() override { check_finite("factor", factor_); }
  Tensor operator()(const Tensor& x) const override {
    if (x.rank() != 2)
      fail("Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape=", x.shape());
    const bool is_by_rows = mode_ == "rows";
    const int64_t vector_count = x.dim(is_by_rows ? 0 : 1);
    const Tensor squares = ops::sum(ops::square(x), {is_by_rows ? 1 : 0}, true);
    const Tensor unit_vectors = x * ops::rsqrt(ops::maximum(squares, 1e-12));
    const Tensor cosines = ops::matmul(unit_vectors, unit_vectors, !is_by_rows, is_by_rows);
    const Tensor other_cosines = cosines * (1.0 - ops::eye(vector_count, vector_count, x.dtype()));
    const double pairs = double(vector_count) * double(vector_count - 1) / 2;
    return ops::sum(ops::abs(other_cosines)) * (factor_ * 0.5) / pairs;
  }

 private:
  double factor_ = 0.01;
  std::string mode_ = "rows";
};

/// An activity regularizer with the formula of Keras up to 2.3.1: its penalty is not divided by the
/// number of samples, while in Keras 3 and tf.keras it is.
class ActivityKeras2 final : public Regularizer {
 public:
  static void describe(Schema<ActivityKeras2>& s) {
    s.doc(
         "Applies activity_regularizer as Keras 2.3.1 does: summed over the samples of a batch "
         "instead of averaged.")
        .field("regularizer", &ActivityKeras2::regularizer_, "The regularizer.")
        .required();
  }
  Tensor operator()(const Tensor& x) const override {
    if (!regularizer_) fail("expected a regularizer, got none");
    const Tensor penalty = (*regularizer_)(x);
    return x.rank() > 0 && x.dim(0) > 0 ? penalty * static_cast<double>(x.dim(0)) : penalty;
  }

 private:
  Ref<Regularizer> regularizer_;
};

}  // namespace

CRESCENT_PLUGIN("regularizers", CRESCENT_VERSION) {
  registry.add<L1>("L1", {"l1"});
  registry.add<L2>("L2", {"l2"});
  registry.add<L1L2>("L1L2", {"l1_l2", "l1l2"});
  registry.add<OrthogonalRegularizer>("OrthogonalRegularizer", {"orthogonal_regularizer"});
  registry.add<ActivityKeras2>("ActivityKeras2");
}

}  // namespace crescent
