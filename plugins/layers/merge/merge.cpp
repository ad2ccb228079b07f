// Layers that join several tensors.
#include <algorithm>

#include "crescent/plugin.h"

namespace crescent {
namespace {

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::string text = "[";
  for (const Shape& shape : shapes) text += (text.size() > 1 ? ", " : "") + to_text(shape);
  return text + "]";
}

void expect_one_batch(const std::vector<Shape>& inputs) {
  for (const Shape& shape : inputs)
    if (shape[0] >= 0 && inputs[0][0] >= 0 && shape[0] != inputs[0][0])
      fail("Can not merge tensors with different batch sizes. Got tensors with shapes : ",
           shapes_text(inputs));
}

/// The mask of x, broadcast to the shape of x; true everywhere if x has no mask.
Tensor broadcast_mask(const Tensor& x, const Tensor& mask) {
  const Tensor all_true = ops::cast(ops::ones_like(x), DType::boolean);
  if (!mask) return all_true;
  Tensor result = mask;
  while (result.rank() < x.rank()) result = ops::expand_dims(result, -1);
  return ops::logical_and(all_true, result);
}

/// Whether an element is valid in any input; an empty Tensor if an input has no mask.
Tensor any_valid(const Tensors& masks) {
  Tensor is_valid;
  for (const Tensor& mask : masks) {
    if (!mask) return {};
    is_valid = is_valid ? ops::logical_or(is_valid, mask) : mask;
  }
  return is_valid;
}

/// The base of elementwise merge layers. If an input has fewer axes than others, axes are inserted
/// after its batch axis.
class Merge : public Layer {
 public:
  void configured() override {
    Layer::configured();
    set_supports_masking(true);
  }
  InputCount input_count() const override {
    return {.min = 2, .expected = "A merge layer should be called on a list of at least 2 inputs"};
  }
  void build(const std::vector<Shape>& inputs) override { expect_one_batch(inputs); }
  Tensors call(const Tensors& inputs, const Call& call) override {
    const Tensors x = same_rank(inputs);
    Tensors masks(x.size());
    for (size_t i = 0; i < call.masks.size() && !mask_all_; ++i)
      if (call.masks[i]) masks[i] = broadcast_mask(x[i], call.masks[i]);
    return {merge(x, masks)};
  }
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks, const Tensors&) override {
    if (!mask_all_) return {masks.size() == inputs.size() ? any_valid(masks) : Tensor()};
    Tensor result;
    for (const Tensor& mask : masks)
      if (mask) result = result ? ops::logical_and(result, mask) : mask;
    return {result};
  }

 protected:
  template <class T>
  static void describe_mask(Schema<T>& s) {
    s.field("mask_all", &Merge::mask_all_,
            "Mask a step unless it is valid in every input that has a mask, and merge masked "
            "values too (Keras 2). Otherwise a step is masked if all inputs mask it, and Multiply, "
            "Maximum and Minimum leave out masked values (Keras 3).");
  }
  /// Merges the inputs. The mask of an input, if it has one, has the shape of the input.
  virtual Tensor merge(const Tensors& inputs, const Tensors& masks) const = 0;

 private:
  static Tensors same_rank(const Tensors& inputs) {
    int rank = 0;
    for (const Tensor& x : inputs) rank = std::max(rank, x.rank());
    Tensors result = inputs;
    for (Tensor& x : result)
      while (x.rank() < rank) x = ops::expand_dims(x, 1);
    return result;
  }
  bool mask_all_ = false;
};

using MergeStep = Tensor (*)(const Tensor& merged_inputs, const Tensor& next_input);

/// Merges all inputs by `step`, an operation on two tensors; masks have no influence.
Tensor merge_all(MergeStep step, const Tensors& inputs, const Tensors&) {
  Tensor merged_inputs = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) merged_inputs = step(merged_inputs, inputs[i]);
  return merged_inputs;
}

/// The product of the values that are not masked; 0 where all inputs are masked.
Tensor multiply_unmasked(MergeStep step, const Tensors& inputs, const Tensors& masks) {
  Tensors factors = inputs;
  for (size_t i = 0; i < factors.size(); ++i)
    if (masks[i]) factors[i] = ops::where(masks[i], factors[i], 1);
  const Tensor product = merge_all(step, factors, masks), is_valid = any_valid(masks);
  return is_valid ? ops::where(is_valid, product, 0) : product;
}

/// Merges by the step the values that are not masked. Where all inputs are masked, the result is
/// the value of the first input.
Tensor merge_unmasked(MergeStep step, const Tensors& inputs, const Tensors& masks) {
  Tensor merged_inputs = inputs[0], is_valid = masks[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Tensor next_input = masks[i] ? ops::where(masks[i], inputs[i], merged_inputs) : inputs[i];
    if (is_valid) merged_inputs = ops::where(is_valid, merged_inputs, next_input);
    is_valid = masks[i] && is_valid ? ops::logical_or(is_valid, masks[i]) : Tensor();
    merged_inputs = step(merged_inputs, next_input);
  }
  return merged_inputs;
}

struct MergeSpec {
  const char *name, *doc;
  MergeStep step;
  Tensor (*merge)(MergeStep step, const Tensors& inputs, const Tensors& masks) = merge_all;
};
const MergeSpec kMerges[] = {
    {"Add", "The sum of the inputs.", [](const Tensor& a, const Tensor& b) { return a + b; }},
    {"Multiply", "The element-wise product of the inputs.",
     [](const Tensor& a, const Tensor& b) { return a * b; }, multiply_unmasked},
    {"Maximum", "The element-wise maximum of the inputs.",
     [](const Tensor& a, const Tensor& b) { return ops::maximum(a, b); }, merge_unmasked},
    {"Minimum", "The element-wise minimum of the inputs.",
     [](const Tensor& a, const Tensor& b) { return ops::minimum(a, b); }, merge_unmasked},
};

template <int Index>
class FoldedMerge final : public Merge {
 public:
  static void describe(Schema<FoldedMerge>& s) {
    s.doc(kMerges[Index].doc);
    describe_mask(s);
  }

 protected:
  Tensor merge(const Tensors& inputs, const Tensors& masks) const override {
    return kMerges[Index].merge(kMerges[Index].step, inputs, masks);
  }
};

template <int... Indices>
void add_folded(Registry& registry, std::integer_sequence<int, Indices...>) {
  (registry.add<FoldedMerge<Indices>>(kMerges[Indices].name), ...);
}

class Average final : public Merge {
 public:
  static void describe(Schema<Average>& s) {
    s.doc("The mean of the inputs.");
    describe_mask(s);
  }

 protected:
  Tensor merge(const Tensors& inputs, const Tensors&) const override {
    Tensor sum = inputs[0];
    for (size_t i = 1; i < inputs.size(); ++i) sum = sum + inputs[i];
    return sum / double(inputs.size());
  }
};

class Subtract final : public Merge {
 public:
  static void describe(Schema<Subtract>& s) {
    s.doc("The first input minus the second.");
    describe_mask(s);
  }
  InputCount input_count() const override {
    return {2, 2, "A `Subtract` layer should be called on exactly 2 inputs"};
  }

 protected:
  Tensor merge(const Tensors& inputs, const Tensors&) const override {
    return inputs[0] - inputs[1];
  }
};

class Concatenate final : public Layer {
 public:
  static void describe(Schema<Concatenate>& s) {
    s.doc("Joins the inputs along an axis.")
        .field("axis", &Concatenate::axis_, "Axis along which to concatenate.")
        .field("mask_all", &Concatenate::mask_all_,
               "Mask a step unless it is valid in every input (Keras 2); otherwise unless it is "
               "valid in any (Keras 3).");
  }
  void configured() override {
    Layer::configured();
    set_supports_masking(true);
  }
  InputCount input_count() const override {
    return {.expected = "A `Concatenate` layer should be called on a list of at least 1 input"};
  }
  void build(const std::vector<Shape>& inputs) override {
    const int axis = inputs[0].axis(int(axis_));
    for (const Shape& shape : inputs) {
      Shape other_shape = shape;
      if (shape.rank() == inputs[0].rank()) other_shape.set(axis, inputs[0][axis]);
      if (!other_shape.compatible(inputs[0]))
        fail(
            "A `Concatenate` layer requires inputs with matching shapes except for the "
            "concatenation axis. Received: input_shape=",
            shapes_text(inputs));
    }
  }
  Tensors call(const Tensors& inputs, const Call&) override {
    return {ops::concatenate(inputs, int(axis_))};
  }
  /// Computes the mask of the result from the concatenated masks; an input without a mask counts as
  /// unmasked everywhere.
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks, const Tensors&) override {
    if (std::none_of(masks.begin(), masks.end(), [](const Tensor& m) { return bool(m); }))
      return {Tensor()};
    Tensors broadcast_masks;
    for (size_t i = 0; i < inputs.size(); ++i)
      broadcast_masks.push_back(broadcast_mask(inputs[i], masks[i]));
    const Tensor joined_mask = ops::concatenate(broadcast_masks, int(axis_));
    return {mask_all_ ? ops::all(joined_mask, {-1}) : ops::any(joined_mask, {-1})};
  }

 private:
  int64_t axis_ = -1;
  bool mask_all_ = false;
};

class Dot final : public Layer {
 public:
  static void describe(Schema<Dot>& s) {
    s.doc("The dot product of two inputs over one axis of each, for each sample.")
        .field("axes", &Dot::axes_, "Axis to sum over, or one for each input.")
        .required()
        .field("normalize", &Dot::normalize_,
               "Normalize the vectors to length 1 first, which gives cosine similarities.");
  }
  void configured() override {
    Layer::configured();
    if (axes_.empty() || axes_.size() > 2)
      fail("axes: expected 1 or 2 integers, got ", Value(axes_));
    set_supports_masking(true);
  }
  InputCount input_count() const override {
    return {2, 2, "A `Dot` layer should be called on a list of 2 inputs"};
  }
  void build(const std::vector<Shape>& inputs) override {
    const int a = axis_of(inputs[0], 0), b = axis_of(inputs[1], 1);
    if (inputs[0][a] >= 0 && inputs[1][b] >= 0 && inputs[0][a] != inputs[1][b])
      fail("Incompatible input shapes: axis values ", inputs[0][a], " (at axis ", a,
           ") != ", inputs[1][b], " (at axis ", b, "). Full input shapes: ", inputs[0], ", ",
           inputs[1]);
  }
  Tensors call(const Tensors& inputs, const Call&) override {
    Tensor a = inputs[0], b = inputs[1];
    const int axis_a = axis_of(a.shape(), 0), axis_b = axis_of(b.shape(), 1);
    if (normalize_) {
      a = unit_vectors(a, axis_a);
      b = unit_vectors(b, axis_b);
    }
    return {batch_dot(a, b, axis_a, axis_b)};
  }
  Tensors compute_mask(const Tensors&, const Tensors&, const Tensors&) override {
    return {Tensor()};
  }

 private:
  int axis_of(const Shape& shape, size_t input) const {
    return shape.axis(int(axes_.size() == 1 ? axes_[0] : axes_[input]));
  }
  static Tensor unit_vectors(const Tensor& x, int axis) {
    return x * ops::rsqrt(ops::maximum(ops::sum(ops::square(x), {axis}, true), 1e-12));
  }
  /// Moves `axis` of x to the end (or to index 1), and merges all other axes except the batch into
  /// one.
  static Tensor as_matrix(const Tensor& x, int axis, bool is_axis_last) {
    std::vector<int> axes{0};
    if (!is_axis_last) axes.push_back(axis);
    for (int i = 1; i < x.rank(); ++i)
      if (i != axis) axes.push_back(i);
    if (is_axis_last) axes.push_back(axis);
    int64_t other_size = 1;
    for (int i = 1; i < x.rank(); ++i)
      if (i != axis) other_size *= x.dim(i);
    const Shape shape = is_axis_last ? Shape{x.dim(0), other_size, x.dim(axis)}
                                     : Shape{x.dim(0), x.dim(axis), other_size};
    return ops::reshape(ops::transpose(x, axes), shape);
  }
  static Tensor batch_dot(const Tensor& a, const Tensor& b, int axis_a, int axis_b) {
    const Tensor product = ops::matmul(as_matrix(a, axis_a, true), as_matrix(b, axis_b, false));
    Shape shape{a.dim(0)};
    for (int i = 1; i < a.rank(); ++i)
      if (i != axis_a) shape.append(a.dim(i));
    for (int i = 1; i < b.rank(); ++i)
      if (i != axis_b) shape.append(b.dim(i));
    if (shape.rank() == 1) shape.append(1);
    return ops::reshape(product, shape);
  }

  std::vector<int64_t> axes_;
  bool normalize_ = false;
};

}  // namespace

CRESCENT_PLUGIN("merge", CRESCENT_VERSION) {
  add_folded(registry, std::make_integer_sequence<int, std::size(kMerges)>{});
  registry.add<Average>("Average");
  registry.add<Subtract>("Subtract");
  registry.add<Concatenate>("Concatenate");
  registry.add<Dot>("Dot");
}

}  // namespace crescent
