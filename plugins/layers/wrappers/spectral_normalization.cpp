#include <algorithm>

#include "crescent/registry/registration.h"
#include "crescent/system/interrupt.h"
#include "wrapper.h"

namespace crescent {
namespace {

/// Scales a vector to length 1; a zero vector is unchanged.
Tensor unit_vector(const Tensor& x) {
  const Tensor length = ops::norm(x);
  return x / ops::where(ops::equal(length, 0), 1, length);
}

/// Divides the kernel of the wrapped layer by its largest singular value. This value is
/// approximated by power iteration on a stored vector, some iterations per call.
class SpectralNormalization final : public BaseWrapper {
 public:
  static void describe(Schema<SpectralNormalization>& s) {
    s.doc(
         "Divides the kernel of the wrapped layer by its spectral norm at every training step "
         "(Miyato et al. 2018). quantize leaves the wrapped layer as it is.")
        .trait("computes_weights", true);
    describe_layer(s);
    s.field("power_iterations", &SpectralNormalization::power_iterations_,
            "Power iterations per step.")
        .max(1000);
  }
  void configured() override {
    BaseWrapper::configured();
    if (power_iterations_ < 1)
      fail("`power_iterations` should be greater than zero. Received: `power_iterations=",
           power_iterations_, "`");
    set_supports_masking(layer()->supports_masking());
  }
  InputCount input_count() const override { return layer()->input_count(); }
  void build(const std::vector<Shape>& inputs) override {
    BaseWrapper::build(inputs);
    kernel_ = wrapped_kernel();
    vector_u_ = add_weight("vector_u", {1, kernel_.shape()[-1]},
                           make<Initializer>("TruncatedNormal", {{"stddev", 0.02}}),
                           {.trainable = false, .dtype = kernel_.dtype()});
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    if (call.training) normalize();
    return (*layer())(inputs);
  }
  /// The weights in the order of Keras, where the kernel of the wrapped layer belongs to the
  /// wrapper.
  Variables weights_in_keras_order() const override {
    Variables ordered_weights;
    if (built()) ordered_weights = {kernel_, vector_u_};
    for (const Variable& weight : weights())
      if (std::find(ordered_weights.begin(), ordered_weights.end(), weight) ==
          ordered_weights.end())
        ordered_weights.push_back(weight);
    return ordered_weights;
  }
  Tensors compute_mask(const Tensors&, const Tensors&, const Tensors& outputs) override {
    Tensors masks;
    for (const Tensor& output : outputs) masks.push_back(output.mask());
    return masks;
  }

 private:
  Variable wrapped_kernel() const {
    for (const Variable& weight : layer()->weights())
      if (weight.name() == "kernel" || weight.name() == "embeddings") return weight;
    fail(layer()->class_name(), " object has no attribute 'kernel' nor 'embeddings'");
  }
  /// Replaces the kernel by the normalized one. As in Keras, gradients are those of the new kernel.
  void normalize() {
    const Tensor kernel = kernel_.value();
    // at least float32, because squares may exceed the range of float16
    const DType compute_type = promote(kernel.dtype(), DType::float32);
    const Tensor matrix =
        ops::cast(ops::stop_gradient(ops::reshape(kernel, {-1, kernel.dim(-1)})), compute_type);
    const Tensor is_zero = ops::all(ops::equal(matrix, 0));
    Tensor u = ops::cast(vector_u_.value(), compute_type), v;
    for (int64_t i = 0; i < power_iterations_; ++i) {
      heed_interruption("a weight was normalized");
      v = unit_vector(ops::matmul(u, matrix, false, true));
      u = unit_vector(ops::matmul(v, matrix));
    }
    const Tensor norm = ops::reshape(ops::matmul(ops::matmul(v, matrix), u, false, true), {});
    const Tensor normalized_kernel = ops::cast(
        ops::cast(ops::stop_gradient(kernel), compute_type) / ops::where(is_zero, 1, norm),
        kernel.dtype());
    vector_u_.assign(ops::where(is_zero, vector_u_.value(), u));
    kernel_.assign(kernel + (normalized_kernel - ops::stop_gradient(kernel)));
  }

  int64_t power_iterations_ = 1;
  Variable kernel_, vector_u_;
};

}  // namespace

CRESCENT_REGISTER(spectral_normalization) {
  registry.add<SpectralNormalization>("SpectralNormalization");
}

}  // namespace crescent
