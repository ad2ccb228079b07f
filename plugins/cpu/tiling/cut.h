// Cut: the division of an instruction into slices along the batch. It says which arguments are
// divided into slices, and how results that depend on all rows are combined from those of the
// slices.
#pragma once
#include <optional>
#include <vector>

#include "crescent/program/op_types.h"

namespace crescent::cpu {

/// Arrays with at least this many bytes do not fit the cache of a core.
constexpr int64_t kLargeBytes = 4 << 20;

/// The op as a pointer to T; null if it is not a T.
template <class T>
const T* as(const Op& op) {
  return op.name() == T::kName ? static_cast<const T*>(&op) : nullptr;
}

enum class SliceRole : uint8_t {
  whole,  ///< each slice gets the whole array
  rows,   ///< each slice gets or computes its own rows (axis 0)
  sum,    ///< the results of the slices are summed
  mean,   ///< the result is the mean of all rows, and the next result is their variance
  variance,
};

struct Cut {
  std::vector<SliceRole> inputs, outputs;
};

/// The cut of an op; nullopt if the op cannot be cut or would take longer in slices.
std::optional<Cut> cut_of(const Op& op, const TensorSpecs& in, const TensorSpecs& out);

/// Whether every element of the results is computed independently of the others; false for
/// scatters.
bool is_elementwise(const Op& op);

/// A copy of the op for a batch of `rows` rows.
OpPtr with_rows(const OpPtr& op, int64_t rows);

}  // namespace crescent::cpu
