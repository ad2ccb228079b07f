#include <algorithm>

#include "../../numbers.h"
#include "adapting.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class Normalization final : public UnaryLayer {
 public:
  static void describe(Schema<Normalization>& s) {
    s.doc(
         "Normalizes features to mean 0 and variance 1: (x - mean) / sqrt(variance), from options "
         "or learned by adapt().")
        .field("axis", &Normalization::axis_,
               "Axes with a separate mean and variance for each index; null: one mean and variance "
               "for all.")
        .field("mean", &Normalization::given_mean_, "A number, or one for each index.")
        .field("variance", &Normalization::given_variance_, "A number, or one for each index.")
        .field("invert", &Normalization::invert_, "Denormalize instead: x * sqrt(variance) + mean.")
        .method("adapt", &Normalization::adapt, "Learns mean and variance from data.")
        .arg("data", "A tensor of samples, or a dataset.")
        .arg("steps", "Maximum number of batches to use.", Value())
        .method("update_state", &Normalization::update_state, "Accumulates one batch.")
        .arg("data", "A tensor of samples.")
        .method("finalize_state", &Normalization::finalize_state,
                "Computes mean and variance from the accumulated data.")
        .method("reset_state", &Normalization::reset_state, "Discards the accumulated data.")
        .property("mean", &Normalization::mean,
                  "The mean, in a shape that broadcasts with the inputs.")
        .property("variance", &Normalization::variance,
                  "The variance, in a shape that broadcasts with the inputs.");
  }
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(true);
    if (given_mean_.is_null() != given_variance_.is_null())
      fail("When setting values directly, both `mean` and `variance` must be set. Received: mean=",
           given_mean_, " and variance=", given_variance_);
    if (given_mean_.is_null()) return;
    const Numbers mean = numbers_in(given_mean_, "mean"),
                  variance = numbers_in(given_variance_, "variance");
    if (mean.shape != variance.shape)
      fail("When setting values directly, `mean` and `variance` must have the same shape. ",
           "Received: mean shape ", mean.shape, " and variance shape ", variance.shape);
    given_mean_ = value_of(mean), given_variance_ = value_of(variance);
  }
  void build(const Shape& input) override {
    kept_axes_.clear();
    for (int64_t axis : axis_.value_or(std::vector<int64_t>{}))
      kept_axes_.push_back(input.axis(int(axis)));
    std::sort(kept_axes_.begin(), kept_axes_.end());
    input_rank_ = input.rank();
    Shape kept_shape;
    for (int axis : kept_axes_) kept_shape.append(input[axis]);
    if (!kept_shape.is_known())
      fail("All `axis` values to be kept must have a known shape. Received axis=", Value(*axis_),
           ", inputs.shape=", input);
    if (!given_mean_.is_null()) return check_given(kept_shape);
    const WeightOptions statistic_options{.trainable = false},
        count_options{.trainable = false, .dtype = DType::int32};
    mean_ = add_weight("mean", kept_shape, "zeros", statistic_options);
    variance_ = add_weight("variance", kept_shape, "ones", statistic_options);
    add_weight("count", {}, "zeros", count_options);
  }
  Tensor call(const Tensor& x, const Call&) override {
    const Tensor values = ops::cast(x, compute_dtype());
    const Tensor mean = with_input_rank(mean_, given_mean_, x.rank()),
                 variance = with_input_rank(variance_, given_variance_, x.rank());
    const Tensor deviation = ops::maximum(ops::sqrt(variance), 1e-7);
    return invert_ ? mean + values * deviation : (values - mean) / deviation;
  }

 private:
  void check_given(const Shape& kept_shape) const {
    const Shape shape = numbers_in(given_mean_, "mean").shape;
    if (!broadcasts(shape, kept_shape))
      fail("`mean` and `variance` of shape ", shape, " do not fit the kept axes, which have shape ",
           kept_shape);
  }
  /// Returns the learned or given mean or variance with the rank of the inputs, and with size 1
  /// along the axes over which it was computed.
  Tensor with_input_rank(const Variable& learned_variable, const Value& given_value,
                         int rank) const {
    const Tensor values = given_value.is_null()
                              ? learned_variable.value()
                              : numbers_in(given_value, "").tensor(compute_dtype());
    Shape shape(std::vector<int64_t>(size_t(rank), 1));
    for (int i = 1; i <= values.rank(); ++i)
      shape.set(kept_axes_[kept_axes_.size() - size_t(i)], values.dim(-i));
    return ops::cast(ops::reshape(values, shape), compute_dtype());
  }
  /// The value of the property mean or variance: the learned or given value, or, before the layer
  /// is built, the option; null if there is none.
  Value current_value(const Variable& learned_variable, const Value& given_value) const {
    return built()
               ? Codec<Tensor>::encode(with_input_rank(learned_variable, given_value, input_rank_))
               : given_value;
  }
  Value mean() const { return current_value(mean_, given_mean_); }
  Value variance() const { return current_value(variance_, given_variance_); }
  void adapt(const Value& data, std::optional<int64_t> steps) {
    reset_state();
    each_batch(data, steps, [&](const Value& batch) { update_state(batch); });
    finalize_state();
  }
  void update_state(const Value& batch) {
    if (!given_mean_.is_null()) fail("adapt: mean and variance were given as options");
    const auto boxed = batch.object_as<BoxedTensor>();
    const Tensor data = boxed ? boxed->tensor : numbers_in(batch, "data").tensor(variable_dtype());
    build_for({data.shape()});
    const Tensor values = ops::cast(data, variable_dtype());
    ops::Axes other_axes;
    Shape kept_shape;
    for (int i = 0; i < data.rank(); ++i)
      if (std::find(kept_axes_.begin(), kept_axes_.end(), i) == kept_axes_.end())
        other_axes.push_back(i);
      else
        kept_shape.append(data.dim(i));
    if (kept_shape != mean_.shape())
      fail("adapt: expected data with ", mean_.shape(), " along the kept axes, got ", data.shape());
    const double count = double(data.size()) / double(std::max<int64_t>(kept_shape.size(), 1));
    if (count == 0) return;
    join(other_axes.empty() ? values : ops::mean(values, other_axes),
         other_axes.empty() ? ops::zeros_like(values) : ops::variance(values, other_axes), count);
  }
  /// Combines the mean and variance of the samples so far with those of `count` more samples.
  void join(const Tensor& mean, const Tensor& variance, double count) {
    sample_count_ += count;
    const double new_fraction = count / sample_count_;
    const Tensor joint_mean =
        new_fraction == 1 ? mean : adapted_mean_ * (1 - new_fraction) + mean * new_fraction;
    adapted_variance_ =
        new_fraction == 1
            ? variance
            : (adapted_variance_ + ops::square(adapted_mean_ - joint_mean)) * (1 - new_fraction) +
                  (variance + ops::square(mean - joint_mean)) * new_fraction;
    adapted_mean_ = joint_mean;
  }
  void finalize_state() {
    if (!given_mean_.is_null() || sample_count_ == 0) return;
    mean_.assign(adapted_mean_);
    variance_.assign(adapted_variance_);
  }
  void reset_state() { sample_count_ = 0; }

  std::optional<std::vector<int64_t>> axis_ = std::vector<int64_t>{-1};
  Value given_mean_, given_variance_;
  bool invert_ = false;
  std::vector<int> kept_axes_;
  int input_rank_ = 0;  ///< rank of the inputs
  Variable mean_, variance_;
  /// The number of samples from which adapted_mean_ and adapted_variance_ were computed.
  double sample_count_ = 0;
  Tensor adapted_mean_, adapted_variance_;
};

}  // namespace

CRESCENT_REGISTER(normalization) { registry.add<Normalization>("Normalization"); }

}  // namespace crescent
