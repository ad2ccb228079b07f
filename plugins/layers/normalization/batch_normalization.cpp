#include <cmath>

#include "crescent/program/distribution.h"
#include "crescent/registry/registration.h"
#include "normalization_layers.h"

namespace crescent {
namespace {

class BatchNormalization final : public ScaledLayer {
 public:
  static void describe(Schema<BatchNormalization>& s) {
    s.doc(
         "Normalizes each channel: by the mean and variance of the batch in training, by moving "
         "averages in inference.")
        .field("axis", &BatchNormalization::axis_, "Axis of the channels.")
        .field("momentum", &BatchNormalization::momentum_, "Momentum of the moving averages.")
        .min(0)
        .max(1)
        .field("epsilon", &BatchNormalization::epsilon_, "Small constant added to the variance.")
        .min(0);
    describe_center_scale(s);
    describe_initializers(s);
    s.field("moving_mean_initializer", &BatchNormalization::mean_initializer_,
            "Initializer of the moving mean.")
        .field("moving_variance_initializer", &BatchNormalization::variance_initializer_,
               "Initializer of the moving variance.");
    describe_penalties(s);
    s.field("renorm", &BatchNormalization::renorm_,
            "Batch renormalization: training is corrected towards the moving averages too (Ioffe "
            "2017).")
        .field("renorm_clipping", &BatchNormalization::clipping_,
               "Limits of the corrections of renorm: a table of \"rmin\", \"rmax\" and \"dmax\".")
        .field("renorm_momentum", &BatchNormalization::renorm_momentum_,
               "Momentum of the moving averages of renorm.")
        .min(0)
        .max(1)
        .field("synchronized", &BatchNormalization::synchronized_,
               "Compute mean and variance over the batches of all processes.")
        .field("moving_variance_ddof", &BatchNormalization::ddof_,
               "Subtracted from the number of values in the update of the moving variance: 1 is "
               "Bessel's correction; Keras 2.3.1 has 1 + epsilon.")
        .min(0)
        .field("batch_when_frozen", &BatchNormalization::batch_when_frozen_,
               "Use the statistics of the batch in training also when the layer is frozen (Keras "
               "2.3.1).")
        .field("count_masked", &BatchNormalization::count_masked_,
               "Include masked steps in mean and variance (Keras 2.3.1).");
  }
  void configured() override {
    ScaledLayer::configured();
    check_clipping();
    if (ddof_ > 0 && renorm_) fail("moving_variance_ddof has no effect with renorm");
    set_supports_masking(true);
  }
  void build(const Shape& input) override {
    const int axis = channel_axis(input);
    if (input[axis] < 0)
      fail("Axis ", Value(axis_), " of the input must have a known size, got shape ", input);
    const Shape shape{input[axis]};
    build_scale(shape);
    moving_mean_ = add_weight("moving_mean", shape, mean_initializer_, {.trainable = false});
    moving_variance_ =
        add_weight("moving_variance", shape, variance_initializer_, {.trainable = false});
    if (renorm_) build_renorm(shape);
    set_input_specs({InputSpec::with_ndim(input.rank()).axis(axis, input[axis])});
  }
  /// A frozen layer computes as in inference, as in Keras 3; with the option batch_when_frozen it
  /// computes as in training, but without updating the averages.
  Tensor call(const Tensor& raw_input, const Call& call) override {
    const Tensor x = as_floating(raw_input, compute_dtype());
    const int axis = channel_axis(x.shape()), last_axis = x.rank() - 1;
    const Tensor input = axis == last_axis ? x : ops::swap_axes(x, axis, last_axis);
    const bool uses_batch_statistics = call.training && (trainable() || batch_when_frozen_);
    const Tensor y = uses_batch_statistics
                         ? normalize_by_batch(input, weights_of_mask(call.mask(), x, axis))
                         : normalize(input, moving_mean_, moving_variance_);
    return axis == last_axis ? y : ops::swap_axes(y, axis, last_axis);
  }

 private:
  int channel_axis(const Shape& shape) const {
    if (axis_.size() != 1) fail("axis: expected one integer, got ", Value(axis_));
    return shape.axis(int(axis_[0]));
  }
  /// Converts a mask to a weight for each element of x. The channels, which are along `axis` of x,
  /// are along the last axis of the result.
  Tensor weights_of_mask(const Tensor& mask, const Tensor& x, int axis) const {
    if (!mask || count_masked_) return {};
    Tensor weights = ops::cast(mask, promote(x.dtype(), DType::float32));
    while (weights.rank() < x.rank()) weights = ops::expand_dims(weights, -1);
    weights = ops::broadcast_to(weights, x.shape());
    return axis == x.rank() - 1 ? weights : ops::swap_axes(weights, axis, x.rank() - 1);
  }
  Tensor normalize(const Tensor& x, const Tensor& mean, const Tensor& variance) const {
    const Tensor factor =
        ops::rsqrt(at_least_float32(variance) + epsilon_) * at_least_float32(gamma());
    return ops::cast(x * factor + (at_least_float32(beta()) - at_least_float32(mean) * factor),
                     x.dtype());
  }
  Tensor normalize_by_batch(const Tensor& x, const Tensor& weights) {
    const bool has_size = x.shape().is_known();  // false while only shapes are inferred
    if (weights || is_synchronized() || renorm_ || !has_size)
      return train_by(moments_of(x, weights), x);
    const ops::BatchNormResult moments = ops::batch_norm_train(x, gamma(), beta(), epsilon_);
    const double count = double(x.shape().size()) / double(x.dim(-1));
    move_averages(moments.mean, ddof_ == 0
                                    ? moments.variance
                                    : moments.variance * (count / degrees_of_freedom(count)));
    return moments.y;
  }
  /// The divisor of the variance. It is at least one, so that the variance of a single value is 0.
  double degrees_of_freedom(double count) const { return std::max(count - ddof_, kMinDegrees); }
  /// Whether the statistics are those of the whole batch. Logical shards, which depend on the
  /// number of rows alone, always have common statistics.
  bool is_synchronized() const { return synchronized_ || in_logical_shard(); }
  struct Statistics {
    Tensor mean, variance, count;
  };
  /// The mean and variance over all unmasked elements of each channel; with the option synchronized
  /// over the batches of all processes.
  Statistics moments_of(const Tensor& x, const Tensor& weights) const {
    const Tensor values = at_least_float32(x),
                 element_weights = weights ? weights : ops::ones_like(values);
    ops::Axes axes;
    for (int i = 0; i < x.rank() - 1; ++i) axes.push_back(i);
    const auto sum_of = [&](const Tensor& terms) {
      const Tensor sum = ops::sum(terms, axes);
      return is_synchronized() ? ops::all_reduce(sum) : sum;
    };
    const Tensor count = weights ? sum_of(element_weights) + 1e-7 : sum_of(element_weights);
    const Tensor mean = sum_of(values * element_weights) / count;
    return {mean, sum_of(ops::square(values - mean) * element_weights) / count, count};
  }
  Tensor train_by(const Statistics& batch, const Tensor& x) {
    if (renorm_) return train_renorm(batch, x);
    const Tensor degrees_of_freedom = ops::maximum(batch.count - ddof_, kMinDegrees);
    move_averages(batch.mean, ddof_ == 0 ? batch.variance
                                         : batch.variance * (batch.count / degrees_of_freedom));
    return normalize(x, batch.mean, batch.variance);
  }
  void update_average(const Variable& moving, const Tensor& value, double momentum) const {
    if (!trainable()) return;
    moving.assign(at_least_float32(moving) * momentum + ops::stop_gradient(value) * (1 - momentum));
  }
  void move_averages(const Tensor& mean, const Tensor& variance) {
    update_average(moving_mean_, mean, momentum_);
    update_average(moving_variance_, variance, momentum_);
  }

  // ---- batch renormalization (Ioffe 2017)

  static constexpr double kUnlimited = 1e30;  ///< the limit of a correction without a limit

  void check_clipping() const {
    for (const DictEntry& limit : clipping_.value_or(Dict{})) {
      const std::vector<std::string> known_limits{"rmin", "rmax", "dmax"};
      if (std::find(known_limits.begin(), known_limits.end(), limit.key) == known_limits.end())
        fail("renorm_clipping: no limit '", limit.key, "'", did_you_mean(limit.key, known_limits));
      if (!limit.value.is_number())
        fail("renorm_clipping: '", limit.key, "' expected a number, got ", limit.value);
    }
    if (limit("rmax", kUnlimited) < limit("rmin", 0))
      fail("rmax should be greater than rmin in the `renorm_clipping` argument. Received: rmax=",
           limit("rmax", kUnlimited), ", rmin=", limit("rmin", 0), ".");
    if (limit("dmax", kUnlimited) < 0)
      fail("dmax should be non-negative in the `renorm_clipping` argument. Received: dmax=",
           limit("dmax", kUnlimited), ".");
    if (clipping_ && !renorm_) fail("renorm_clipping has no effect without renorm");
  }
  void build_renorm(const Shape& shape) {
    const auto deviation_variable = [&](const char* name) {
      Variable v = add_weight(name, shape, variance_initializer_, {.trainable = false});
      v.assign(ops::sqrt(v.value()));
      return v;
    };
    moving_deviation_ = deviation_variable("moving_stddev");
    renorm_mean_ = add_weight("renorm_mean", shape, mean_initializer_, {.trainable = false});
    renorm_deviation_ = deviation_variable("renorm_stddev");
  }
  double limit(const char* name, double default_limit) const {
    const Value* option = clipping_ ? clipping_->find(name) : nullptr;
    return option ? option->as_float() : default_limit;
  }
  /// Computes (x - mean) / deviation * r + d with the statistics of the batch. The corrections r
  /// and d have the effect that the averages of renorm are used instead; for the gradient they are
  /// constants.
  Tensor train_renorm(const Statistics& batch, const Tensor& x) {
    const Tensor deviation = ops::sqrt(batch.variance + epsilon_);
    const Tensor average_deviation =
        ops::maximum(at_least_float32(renorm_deviation_), std::sqrt(epsilon_));
    const Tensor r = ops::stop_gradient(
        ops::clip(deviation / average_deviation, limit("rmin", 0), limit("rmax", kUnlimited)));
    const double dmax = limit("dmax", kUnlimited);
    const Tensor d = ops::stop_gradient(
        ops::clip((batch.mean - at_least_float32(renorm_mean_)) / average_deviation, -dmax, dmax));
    update_average(renorm_mean_, batch.mean, renorm_momentum_);
    update_average(renorm_deviation_, deviation, renorm_momentum_);
    update_average(moving_mean_, batch.mean, momentum_);
    update_average(moving_deviation_, deviation, momentum_);
    if (trainable())
      moving_variance_.assign(
          ops::relu(ops::square(at_least_float32(moving_deviation_)) - epsilon_));
    const Tensor factor = r * at_least_float32(gamma()) / deviation;
    return ops::cast(x * factor + (d * at_least_float32(gamma()) + at_least_float32(beta()) -
                                   batch.mean * factor),
                     x.dtype());
  }

  static constexpr double kMinDegrees = 1e-3;
  std::vector<int64_t> axis_{-1};
  double momentum_ = 0.99, epsilon_ = 1e-3, renorm_momentum_ = 0.99, ddof_ = 0;
  bool synchronized_ = false, renorm_ = false, batch_when_frozen_ = false, count_masked_ = false;
  std::optional<Dict> clipping_;
  Ref<Initializer> mean_initializer_ = "zeros", variance_initializer_ = "ones";
  Variable moving_mean_, moving_variance_;
  Variable moving_deviation_, renorm_mean_, renorm_deviation_;  ///< for batch renormalization
};

}  // namespace

CRESCENT_REGISTER(batch_normalization) { registry.add<BatchNormalization>("BatchNormalization"); }

}  // namespace crescent
