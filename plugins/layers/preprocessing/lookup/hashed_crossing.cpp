#include "crescent/layer/layer.h"
#include "crescent/program/op.h"
#include "crescent/registry/registration.h"
#include "encoding.h"
#include "hashing/hashes.h"
#include "terms.h"

namespace crescent {
namespace {

uint64_t fingerprint(std::string_view text) { return farm_fingerprint(text); }
uint64_t fingerprint(int64_t number) { return static_cast<uint64_t>(number); }

/// The op that hashes the combination of several features of the same shape, element by element.
struct CrossHashed final : OpOf<CrossHashed> {
  static constexpr const char* kName = "cross_hashed";
  int64_t bucket_count = 1;
  auto fields() const { return std::tie(bucket_count); }
  bool supports_dtype(DType dtype) const override { return dtype == DType::string; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{DType::int64, in[0].shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    constexpr uint64_t kStart = 0xdecafcaffe;  // the initial value of the hash in TensorFlow
    auto* index = out[0].mutable_data<int64_t>();
    for (int64_t i = 0; i < out[0].size(); ++i) {
      uint64_t hash = kStart;
      for (const Tensor& feature : in) hash = joined_fingerprint(hash, fingerprint_at(feature, i));
      index[i] = static_cast<int64_t>(hash % static_cast<uint64_t>(bucket_count));
    }
    return true;
  }

 private:
  static uint64_t fingerprint_at(const Tensor& feature, int64_t i) {
    return feature.dtype() == DType::string ? fingerprint(text_of(feature.data<StringId>()[i]))
                                            : fingerprint(feature.data<int64_t>()[i]);
  }
};

class HashedCrossing final : public Layer {
 public:
  static void describe(Schema<HashedCrossing>& s) {
    s.doc("Crosses features: hashes the combination of the values of two or more inputs.")
        .field("num_bins", &HashedCrossing::num_bins_, "Number of bins.")
        .required()
        .min(1)
        .field("output_mode", &HashedCrossing::output_mode_,
               "\"int\": indices of bins; \"one_hot\": vectors of num_bins elements.")
        .field("sparse", &HashedCrossing::sparse_, "Accepts only false: tensors are dense.");
  }
  void configured() override {
    Layer::configured();
    check_mode(output_mode_, {kIndices, kOneHot});
    refuse_sparse(sparse_);
    default_to_int64(output_mode_, policy_);
    autocast_ = false;  // inputs are not cast, because floating-point inputs are errors
  }
  InputCount input_count() const override {
    return {2, static_cast<size_t>(-1), "`HashedCrossing` should be called on at least two inputs"};
  }
  Tensors call(const Tensors& inputs, const Call&) override {
    check_inputs(inputs);
    Tensors features;
    for (const Tensor& x : inputs)
      features.push_back(x.dtype() == DType::string ? x : ops::cast(x, DType::int64));
    CrossHashed op;
    op.bucket_count = num_bins_;
    const Tensor bucket_indices =
        crescent::apply(std::make_shared<const CrossHashed>(op), features).front();
    return {encode_indices(bucket_indices, output_mode_, num_bins_, compute_dtype())};
  }
  /// Infers the output shape from integer inputs, since floating-point inputs would be errors.
  std::vector<Shape> compute_output_shape(const std::vector<Shape>& inputs) override {
    if (inputs.size() < 2) fail("expected the shapes of two inputs or more, got ", inputs.size());
    build_for(inputs);
    Tensors features;
    for (const Shape& shape : inputs) features.push_back(Tensor::abstract({DType::int64, shape}));
    return {call(features, Call()).front().shape()};
  }

 private:
  static void check_inputs(const Tensors& inputs) {
    const Shape& shape = inputs.front().shape();
    if (shape.rank() > 2 || (shape.rank() == 2 && shape[-1] != 1))
      fail("All `HashedCrossing` inputs should have shape `()`, `(batch_size)` or ",
           "`(batch_size, 1)`. Received: inputs of shape ", shape);
    for (const Tensor& x : inputs) {
      if (!x.shape().compatible(shape))
        fail("All `HashedCrossing` inputs should have equal shape. Received: ", shape, " and ",
             x.shape());
      if (x.dtype() != DType::string && !is_integer(x.dtype()))
        fail("All `HashedCrossing` inputs should have an integer or string dtype. Received: ",
             x.dtype());
    }
  }

  int64_t num_bins_ = 0;
  std::string output_mode_ = kIndices;
  bool sparse_ = false;
};

}  // namespace

CRESCENT_REGISTER(hashed_crossing) { registry.add<HashedCrossing>("HashedCrossing"); }

}  // namespace crescent
