#include "crescent/registry/registration.h"
#include "normalization_layers.h"

namespace crescent {
namespace {

class GroupNormalization final : public ScaledLayer {
 public:
  static void describe(Schema<GroupNormalization>& s) {
    s.doc(
         "Normalizes groups of channels, each by its mean and variance within a sample (Wu and He "
         "2018).")
        .field("groups", &GroupNormalization::groups_,
               "Number of groups; -1: one for each channel.")
        .min(-1)
        .field("axis", &GroupNormalization::axis_, "Axis of the channels.")
        .field("epsilon", &GroupNormalization::epsilon_, "Small constant added to the variance.")
        .min(0);
    describe_center_scale(s);
    describe_initializers(s);
    describe_penalties(s);
  }
  void configured() override {
    ScaledLayer::configured();
    if (groups_ == 0) fail("groups: expected -1 or at least 1, got 0");
    set_supports_masking(true);
    // inputs are not cast, so that the statistics of values beyond the range of float16 are
    // computed correctly
    autocast_ = false;
  }
  void build(const Shape& input) override {
    const int axis = channel_axis(input);
    const int64_t channels = input[axis], groups = group_count(channels);
    if (channels < 0)
      fail("Axis ", axis_, " of input tensor should have a defined dimension but the layer ",
           "received an input with shape ", input, ".");
    if (channels < groups)
      fail("Number of groups (", groups, ") cannot be more than the number of channels (", channels,
           ").");
    if (channels % groups != 0)
      fail("The number of groups (", groups, ") must divide the number of channels (", channels,
           ").");
    build_scale({channels});
    set_input_specs({InputSpec::with_ndim(input.rank()).axis(axis, channels)});
  }
  Tensor call(const Tensor& x, const Call&) override {
    if (!x.shape().slice(1, x.rank()).is_known())
      // while shapes are inferred only the shape of the result matters
      return ops::cast(x, compute_dtype());
    const int axis = channel_axis(x.shape());
    const Tensor grouped_x = ops::reshape(at_least_float32(x), grouped_shape(x.shape(), axis));
    ops::Axes axes;
    for (int i = 1; i < grouped_x.rank(); ++i)
      if (i != axis) axes.push_back(i);
    const Tensor centred_x = grouped_x - ops::mean(grouped_x, axes, true);
    const Tensor y =
        centred_x * ops::rsqrt(ops::mean(ops::square(centred_x), axes, true) + epsilon_);
    const Shape parameter_shape = grouped_shape(broadcast_shape(x, {axis}), axis);
    const Tensor scaled_y = y * ops::reshape(at_least_float32(gamma()), parameter_shape) +
                            ops::reshape(at_least_float32(beta()), parameter_shape);
    return ops::cast(ops::reshape(scaled_y, x.shape()), compute_dtype());
  }

 private:
  int channel_axis(const Shape& shape) const {
    const int axis = shape.axis(int(axis_));
    if (axis == 0) fail("axis: the batch axis has no channels, got ", axis_);
    return axis;
  }
  int64_t group_count(int64_t channels) const { return groups_ < 0 ? channels : groups_; }
  /// The shape with the axis of channels split into groups and channels of a group.
  Shape grouped_shape(const Shape& shape, int axis) const {
    const int64_t groups = group_count(shape[axis]);
    return shape.slice(0, axis)
        .concat({groups, shape[axis] / std::max<int64_t>(groups, 1)})
        .concat(shape.slice(axis + 1, shape.rank()));
  }

  int64_t groups_ = 32, axis_ = -1;
  double epsilon_ = 1e-3;
};

}  // namespace

CRESCENT_REGISTER(group_normalization) { registry.add<GroupNormalization>("GroupNormalization"); }

}  // namespace crescent
