#include "encoding.h"

#include <algorithm>

#include "crescent/ops/shapes.h"
#include "crescent/program/op.h"

namespace crescent {
namespace {

struct CountIndices final : OpOf<CountIndices> {
  static constexpr const char* kName = "count_places";
  int64_t depth = 0;
  auto fields() const { return std::tie(depth); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    Shape shape = in[0].shape;
    shape.set(-1, depth);
    return {{DType::float32, shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const int64_t n = in[0].dim(-1), rows = n == 0 ? 0 : in[0].size() / n;
    const int64_t* index = in[0].data<int64_t>();
    float* counts = out[0].mutable_data<float>();
    std::fill_n(counts, out[0].size(), 0.0f);
    for (int64_t row = 0; row < rows; ++row, counts += depth)
      for (int64_t i = 0; i < n; ++i, ++index)
        if (*index >= 0 && *index < depth) ++counts[*index];
    return true;
  }
};

}  // namespace

Tensor count_indices(const Tensor& indices, int64_t depth, DType dtype) {
  CountIndices op;
  op.depth = depth;
  return ops::cast(apply1(op, {ops::cast(indices, DType::int64)}), dtype);
}

Tensor encode_indices(const Tensor& indices, const std::string& mode, int64_t depth, DType dtype) {
  if (mode == kIndices) return ops::cast(indices, dtype);
  const Tensor sample_indices = indices.rank() == 0 ? ops::expand_dims(indices, 0) : indices;
  if (mode == kOneHot)
    return ops::one_hot(sample_indices.rank() > 1 && sample_indices.dim(-1) == 1
                            ? ops::squeeze(sample_indices, -1)
                            : sample_indices,
                        depth, dtype);
  const Tensor counts = count_indices(
      sample_indices.rank() > 2 ? ops::moveaxis(sample_indices, {1}, {-1}) : sample_indices, depth,
      dtype);
  return mode == kMultiHot ? ops::minimum(counts, 1) : counts;
}

std::string current_mode(const std::string& mode) {
  return mode == "binary" ? kMultiHot : mode == "tf-idf" ? "tf_idf" : mode;
}

void check_mode(const std::string& mode, std::initializer_list<const char*> allowed_modes) {
  const std::vector<std::string> names(allowed_modes.begin(), allowed_modes.end());
  if (std::find(names.begin(), names.end(), mode) == names.end())
    fail("Unknown value for `output_mode` argument. Expected one of: ", join(names),
         ". Received: output_mode=", mode, did_you_mean(mode, names));
}

void default_to_int64(const std::string& mode, DTypePolicy& policy) {
  if (mode != kIndices) return;
  if (policy.name == default_policy().name) policy = DTypePolicy::named("int64");
  if (!is_integer(policy.compute))
    fail("When `output_mode=\"int\"`, `dtype` should be an integer type, 'int32' or 'int64'. ",
         "Received: dtype=", policy.name);
}

void refuse_sparse(bool is_sparse) {
  if (is_sparse)
    fail("`sparse=true` is not possible: tensors are dense; without it the numbers are the same");
}

}  // namespace crescent
