#include "training/input/batch_specs.h"

#include "crescent/registry/codec.h"

namespace crescent {
namespace {

Value encoded_spec(const TensorSpec& spec) {
  return Dict{{"dtype", name_of(spec.dtype)}, {"shape", Codec<Shape>::encode(spec.shape)}};
}

TensorSpec tensor_spec(const Value& encoded) {
  const Dict& spec = encoded.as_dict();
  return {dtype_named(spec.at("dtype").as_string()), Codec<Shape>::decode(spec.at("shape"))};
}

List encoded_specs(const TensorSpecs& specs) {
  List list;
  for (const TensorSpec& spec : specs) list.push_back(encoded_spec(spec));
  return list;
}

void set_rows(TensorSpec& spec, int64_t rows) {
  if (spec.shape.rank() > 0) spec.shape.set(0, rows);
}

Tensors abstract_tensors(const TensorSpecs& specs) {
  Tensors tensors;
  for (const TensorSpec& spec : specs) tensors.push_back(Tensor::abstract(spec));
  return tensors;
}

}  // namespace

TensorSpecs tensor_specs(const Value& encoded) {
  TensorSpecs specs;
  for (const Value& spec : encoded.as_list()) specs.push_back(tensor_spec(spec));
  return specs;
}

BatchSpecs::BatchSpecs(const Batch& batch) : x(specs_of(batch.x)), y(specs_of(batch.y)) {
  for (const Tensor& weights : batch.sample_weight)
    sample_weight.push_back(weights ? std::optional(weights.spec()) : std::nullopt);
}

BatchSpecs::BatchSpecs(const Dict& encoded)
    : x(tensor_specs(encoded.at("inputs"))), y(tensor_specs(encoded.at("targets"))) {
  if (x.empty()) fail("expected the specs of a batch with inputs, got none");
  for (const Value& weights : encoded.at("sample_weights").as_list())
    sample_weight.push_back(weights.is_null() ? std::nullopt : std::optional(tensor_spec(weights)));
}

Dict BatchSpecs::encoded() const {
  List weights;
  for (const auto& spec : sample_weight) weights.push_back(spec ? encoded_spec(*spec) : Value());
  return {{"inputs", encoded_specs(x)},
          {"targets", encoded_specs(y)},
          {"sample_weights", std::move(weights)}};
}

void BatchSpecs::set_rows(int64_t rows) {
  for (TensorSpecs* specs : {&x, &y})
    for (TensorSpec& spec : *specs) crescent::set_rows(spec, rows);
  for (auto& spec : sample_weight)
    if (spec) crescent::set_rows(*spec, rows);
}

Batch BatchSpecs::abstract_batch(const Share& share) const {
  TensorSpecs inputs = x;
  if (share && share.shards == 0)
    for (TensorSpec& spec : inputs) crescent::set_rows(spec, share.rows());
  Batch batch{abstract_tensors(inputs), abstract_tensors(y), {}};
  for (const auto& spec : sample_weight)
    batch.sample_weight.push_back(spec ? Tensor::abstract(*spec) : Tensor());
  return batch;
}

}  // namespace crescent
