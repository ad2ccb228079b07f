// Cut: how an instruction is split along the batch, i.e. which arguments have a part per slice, and
// how slices combine results that depend on all rows.
#pragma once
#include <optional>
#include <vector>

#include "crescent/program/op_types.h"

namespace crescent::cpu {

/// Arrays of at least this many bytes do not fit the cache of a core.
constexpr int64_t kLarge = 4 << 20;
inline int64_t bytes_of(const TensorSpec& spec) {
  return spec.shape.size() * static_cast<int64_t>(size_of(spec.dtype));
}

/// The op as a T; null when it is another op.
template <class T>
const T* as(const Op& op) {
  return op.name() == T::kName ? static_cast<const T*>(&op) : nullptr;
}

enum class SliceRole : uint8_t {
  whole,  ///< the same for every slice
  rows,   ///< the rows of the slice, along axis 0
  sum,    ///< a result that is summed over the slices
  mean,
  variance,  ///< mean and variance, results in this order, of all rows together
};

struct Cut {
  std::vector<SliceRole> inputs, outputs;
};

/// The cut of an op; nothing where the op cannot be cut, or where its slices would take longer.
std::optional<Cut> cut_of(const Op& op, const TensorSpecs& in, const TensorSpecs& out);

/// True when every element of the results is computed independently; false for scatters.
bool is_elementwise(const Op& op);

/// The op for a batch of `rows` rows.
OpPtr with_rows(const OpPtr& op, int64_t rows);

}  // namespace crescent::cpu
