// Layers that only reshape or reorder tensors.
#include <algorithm>

#include "../spatial.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// A size in the new shape. The value -1 or null means that the size follows from the number of
/// elements; null is saved as -1.
struct TargetSize {
  int64_t size;
};

}  // namespace

template <>
struct Codec<TargetSize> {
  static TargetSize decode(const Value& value) { return {value.is_null() ? -1 : value.as_int()}; }
  static Value encode(const TargetSize& new_size) { return new_size.size; }
  static std::string type() { return "an integer or null"; }
};

namespace {

/// Broadcasts a mask, whose axes are the leading axes of x, to the shape of x.
Tensor broadcast_mask(Tensor mask, const Tensor& x) {
  while (mask.rank() < x.rank()) mask = ops::expand_dims(mask, -1);
  return ops::broadcast_to(mask, x.shape());
}

/// Flattens all axes except the batch. As in Keras, the mask is dropped, because there is no axis
/// of time steps any more.
class Flatten final : public UnaryLayer {
 public:
  static void describe(Schema<Flatten>& s) {
    s.doc("Merges all axes after the batch into one: (batch, ...) -> (batch, product of the rest)")
        .field("data_format", &Flatten::data_format_,
               "\"channels_first\": move the channels to the end before merging.")
        .choices({"channels_last", "channels_first"});
  }
  Tensor call(const Tensor& x, const Call&) override {
    const Shape sample_shape = x.shape().slice(1, x.rank());
    const int64_t size = sample_shape.is_known() ? sample_shape.size() : -1;
    const bool moves_channels = data_format_ == "channels_first" && x.rank() > 2;
    const Tensor channels_last_x = moves_channels ? channels_to_last(x) : x;
    return size < 0 && x.dim(0) < 0 ? Tensor::abstract({x.dtype(), {-1, -1}})
                                    : ops::reshape(channels_last_x, {x.dim(0), size});
  }

 private:
  std::optional<std::string> data_format_ = "channels_last";
};

class ReshapeLayer final : public MaskCarrier {
 public:
  ReshapeLayer() { carry_mask_ = true; }
  static void describe(Schema<ReshapeLayer>& s) {
    s.doc(
         "Changes the shape: (batch, ...) -> (batch,) + target_shape; one size of -1 or null is "
         "computed.")
        .field("target_shape", &ReshapeLayer::target_shape_, "Shape without the batch axis.")
        .required();
    describe_carry_mask(s);
  }
  void configured() override {
    MaskCarrier::configured();
    const Shape target_shape = this->target();
    if (std::count(target_shape.begin(), target_shape.end(), -1) > 1)
      fail("Can only specify one unknown dimension.");
  }
  Tensor call(const Tensor& x, const Call&) override {
    return ops::reshape(x, Shape{x.dim(0)}.concat(resolved_shape(x.shape())));
  }

 protected:
  /// The mask of the output: a step is unmasked if all of its features are unmasked. Null if the
  /// output has no axis of steps.
  Tensor output_mask(const Tensor& mask, const Tensor& x, const Tensor& y) const override {
    if (y.rank() < 3) return {};
    return ops::all(ops::reshape(broadcast_mask(mask, x), y.shape()), {-1});
  }

 private:
  Shape target() const {
    Shape shape;
    for (const TargetSize& new_size : target_shape_) shape.append(new_size.size);
    return shape;
  }
  Shape resolved_shape(const Shape& input) const {
    const Shape sample_shape = input.slice(1, input.rank());
    if (!sample_shape.is_known()) return target();
    Shape shape = target(), other_sizes;
    int unknown_axis = -1;
    for (int i = 0; i < shape.rank(); ++i)
      (shape[i] == -1) ? void(unknown_axis = i) : other_sizes.append(shape[i]);
    if (unknown_axis >= 0 && other_sizes.size() > 0)
      shape.set(unknown_axis, sample_shape.size() / other_sizes.size());
    if (!shape.is_known() || shape.size() != sample_shape.size())
      fail("total size of new array must be unchanged, input_shape = ", sample_shape,
           ", output_shape = ", target());
    return shape;
  }
  std::vector<TargetSize> target_shape_;
};

class Permute final : public MaskCarrier {
 public:
  Permute() { carry_mask_ = true; }
  static void describe(Schema<Permute>& s) {
    s.doc("Permutes the axes after the batch.")
        .field("dims", &Permute::dims_, "The new order of axes, counted from 1: {2, 1} swaps two.")
        .required();
    describe_carry_mask(s);
  }
  void configured() override {
    MaskCarrier::configured();
    std::vector<int64_t> sorted_dims = dims_;
    std::sort(sorted_dims.begin(), sorted_dims.end());
    for (size_t i = 0; i < sorted_dims.size(); ++i)
      if (sorted_dims[i] != int64_t(i) + 1)
        fail("Invalid permutation `dims`; expected each of 1..", dims_.size(), " once, got ",
             Value(dims_));
    set_input_specs({InputSpec::with_ndim(int(dims_.size()) + 1)});
    set_supports_masking(carry_mask_ && leading_axes_stay());
  }
  Tensor call(const Tensor& x, const Call&) override {
    std::vector<int> axes{0};
    axes.insert(axes.end(), dims_.begin(), dims_.end());
    return ops::transpose(x, axes);
  }

 protected:
  /// The mask with its axes permuted like the leading axes of x; null if the permutation moves an
  /// axis of the mask behind other axes of x.
  Tensor output_mask(const Tensor& mask, const Tensor&, const Tensor&) const override {
    std::vector<int> axes{0};
    for (int i = 1; i < mask.rank(); ++i) axes.push_back(int(dims_[size_t(i) - 1]));
    const bool is_inside = *std::max_element(axes.begin(), axes.end()) < mask.rank();
    return is_inside ? ops::transpose(mask, axes) : Tensor();
  }

 private:
  /// Whether the permutation maps some of the leading axes, but not all axes, to themselves, so
  /// that a mask that has just these axes can be permuted.
  bool leading_axes_stay() const {
    int64_t largest_axis = 0;
    for (size_t i = 0; i + 1 < dims_.size(); ++i)
      if ((largest_axis = std::max(largest_axis, dims_[i])) == int64_t(i) + 1) return true;
    return false;
  }
  std::vector<int64_t> dims_;
};

class RepeatVector final : public UnaryLayer {
 public:
  static void describe(Schema<RepeatVector>& s) {
    s.doc("Repeats a vector: (batch, features) -> (batch, n, features)")
        .field("n", &RepeatVector::n_, "Number of repetitions.")
        .required()
        .min(1);
  }
  void configured() override {
    UnaryLayer::configured();
    set_input_specs({InputSpec::with_ndim(2)});
  }
  Tensor call(const Tensor& x, const Call&) override {
    return ops::broadcast_to(ops::expand_dims(x, 1), {x.dim(0), n_, x.dim(1)});
  }

 private:
  int64_t n_ = 1;
};

}  // namespace

CRESCENT_REGISTER(reshaping) {
  registry.add<Flatten>("Flatten");
  registry.add<ReshapeLayer>("Reshape");
  registry.add<Permute>("Permute");
  registry.add<RepeatVector>("RepeatVector");
}

}  // namespace crescent
