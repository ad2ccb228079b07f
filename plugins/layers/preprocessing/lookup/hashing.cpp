#include "crescent/layer/layer.h"
#include "crescent/program/op.h"
#include "crescent/registry/registration.h"
#include "encoding.h"
#include "hashing/buckets.h"
#include "terms.h"

namespace crescent {
namespace {

struct HashToBucket final : OpOf<HashToBucket> {
  static constexpr const char* kName = "hash_to_bucket";
  int64_t bucket_count = 1;
  std::optional<SipKey> key;
  auto fields() const { return std::tuple(bucket_count, !key, key.value_or(SipKey{})); }
  bool supports_dtype(DType dtype) const override { return dtype == DType::string; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{DType::int64, in[0].shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    in[0].dtype() == DType::string ? fill<std::string>(in[0], out[0])
                                   : fill<int64_t>(in[0], out[0]);
    return true;
  }

 private:
  template <class Term>
  void fill(const Tensor& terms, Tensor& indices) const {
    const auto* element = terms.data<ElementOf<Term>>();
    auto* index = indices.mutable_data<int64_t>();
    for (int64_t i = 0; i < terms.size(); ++i)
      index[i] = bucket_of(term_at(element[i]), bucket_count, key);
  }
};

class Hashing final : public UnaryLayer {
 public:
  static void describe(Schema<Hashing>& s) {
    s.doc("Maps strings or integers to bins by a hash that is the same in every process.")
        .field("num_bins", &Hashing::num_bins_, "Number of bins, including that of the mask value.")
        .required()
        .field("mask_value", &Hashing::mask_value_,
               "A value that gets bin 0 for itself; null: none.")
        .field(
            "salt", &Hashing::salt_,
            "An integer or a pair of integers as the key of SipHash; without it FarmHash is used.")
        .field("output_mode", &Hashing::output_mode_,
               "\"int\": indices of bins; \"one_hot\", \"multi_hot\", \"count\": vectors of "
               "num_bins elements, as in CategoryEncoding.")
        .field("sparse", &Hashing::sparse_, "Accepts only false: tensors are dense.");
  }
  void configured() override {
    UnaryLayer::configured();
    if (num_bins_ <= 0)
      fail("The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: ",
           "num_bins=", num_bins_, ".");
    check_mode(output_mode_, {kIndices, kOneHot, kMultiHot, kCount});
    refuse_sparse(sparse_);
    default_to_int64(output_mode_, policy_);
    key_ = key_of(salt_, "Hashing");
  }
  Tensor call(const Tensor& x, const Call&) override {
    const bool has_mask = !mask_value_.is_null() && num_bins_ > 1;
    HashToBucket op;
    op.bucket_count = has_mask ? num_bins_ - 1 : num_bins_;
    op.key = key_;
    const Tensor terms = x.dtype() == DType::string ? x : ops::cast(x, DType::int64);
    Tensor indices = apply1(op, {terms});
    if (has_mask) indices = ops::where(is_mask(terms), 0, indices + 1);
    return encode_indices(indices, output_mode_, num_bins_, compute_dtype());
  }
  /// Infers the output shape from inputs with the dtype of the mask value.
  std::vector<Shape> compute_output_shape(const std::vector<Shape>& inputs) override {
    if (inputs.size() != 1) fail("expected the shape of one input, got ", inputs.size());
    build_for(inputs);
    const DType dtype = mask_value_.is_string() ? DType::string : DType::int64;
    return {call(Tensor::abstract({dtype, inputs.front()}), Call()).shape()};
  }

 private:
  Tensor is_mask(const Tensor& terms) const {
    if (terms.dtype() != DType::string) return ops::equal(terms, mask_value_.as_int());
    return ops::equal(terms, string_tensor(std::vector{mask_value_.as_string()}, {}));
  }

  int64_t num_bins_ = 0;
  Value mask_value_, salt_;
  std::string output_mode_ = kIndices;
  bool sparse_ = false;
  std::optional<SipKey> key_;
};

}  // namespace

CRESCENT_REGISTER(hashing) { registry.add<Hashing>("Hashing"); }

}  // namespace crescent
