// Projections of weights after an update. Norms are Euclidean over `axis`, with the epsilon of
// Keras.
#include "crescent/plugin.h"

namespace crescent {
namespace {

constexpr double kEpsilon = 1e-7;

Tensor norm_along(const Tensor& w, const std::vector<int64_t>& axis) {
  return ops::norm(w, ops::Axes(axis.begin(), axis.end()), true);
}

class NonNeg final : public Constraint {
 public:
  static void describe(Schema<NonNeg>& s) { s.doc("Sets negative values to 0."); }
  Tensor operator()(const Tensor& w) const override { return ops::relu(w); }
};

class MaxNorm final : public Constraint {
 public:
  static void describe(Schema<MaxNorm>& s) {
    s.doc("Limits norms to at most max_value.")
        .field("max_value", &MaxNorm::max_value_, "Largest norm.")
        .min(0)
        .field("axis", &MaxNorm::axis_, "Axes of the norm: 0 for kernels of Dense.");
  }
  Tensor operator()(const Tensor& w) const override {
    const Tensor n = norm_along(w, axis_);
    return w * (ops::clip(n, 0, max_value_) / (n + kEpsilon));
  }

 private:
  double max_value_ = 2;
  std::vector<int64_t> axis_{0};
};

class UnitNorm final : public Constraint {
 public:
  static void describe(Schema<UnitNorm>& s) {
    s.doc("Scales norms to 1.").field("axis", &UnitNorm::axis_, "Axes of the norm.");
  }
  Tensor operator()(const Tensor& w) const override {
    return w / (norm_along(w, axis_) + kEpsilon);
  }

 private:
  std::vector<int64_t> axis_{0};
};

class MinMaxNorm final : public Constraint {
 public:
  static void describe(Schema<MinMaxNorm>& s) {
    s.doc("Limits norms to the range from min_value to max_value.")
        .field("min_value", &MinMaxNorm::min_value_, "Smallest norm.")
        .min(0)
        .field("max_value", &MinMaxNorm::max_value_, "Largest norm.")
        .min(0)
        .field("rate", &MinMaxNorm::rate_, "Fraction of the correction that is applied.")
        .min(0)
        .max(1)
        .field("axis", &MinMaxNorm::axis_, "Axes of the norm.");
  }
  Tensor operator()(const Tensor& w) const override {
    const Tensor n = norm_along(w, axis_);
    const Tensor target_norm = rate_ * ops::clip(n, min_value_, max_value_) + (1 - rate_) * n;
    return w * (target_norm / (n + kEpsilon));
  }

 private:
  double min_value_ = 0, max_value_ = 1, rate_ = 1;
  std::vector<int64_t> axis_{0};
};

}  // namespace

CRESCENT_PLUGIN("constraints", CRESCENT_VERSION) {
  registry.add<NonNeg>("NonNeg", {"non_neg", "nonneg"});
  registry.add<MaxNorm>("MaxNorm", {"max_norm", "maxnorm"});
  registry.add<UnitNorm>("UnitNorm", {"unit_norm", "unitnorm"});
  registry.add<MinMaxNorm>("MinMaxNorm", {"min_max_norm", "minmaxnorm"});
}

}  // namespace crescent
