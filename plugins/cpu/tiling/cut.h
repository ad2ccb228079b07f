// How an instruction is cut along the batch: which of its arguments go by rows, and what becomes of
// results that are made from all rows.
#pragma once
#include <optional>
#include <vector>

#include "crescent/program/op_types.h"

namespace crescent::cpu {

constexpr int64_t kLarge = 4 << 20;  ///< bytes of an array that no core's cache holds
inline int64_t bytes_of(const TensorSpec& spec) {
  return spec.shape.size() * static_cast<int64_t>(size_of(spec.dtype));
}

/// The op as a T, null when it is none.
template <class T>
const T* as(const Op& op) {
  return op.name() == T::kName ? static_cast<const T*>(&op) : nullptr;
}

enum class SliceRole : uint8_t {
  whole,  ///< the same for every slice
  rows,   ///< the rows of the slice, along axis 0
  sum,    ///< a result: the sum over the slices
  mean,
  variance,  ///< results, in this order: of all rows together
};

struct Cut {
  std::vector<SliceRole> inputs, outputs;
};

/// Nothing where the op cannot be cut, or where its slices would take longer than the whole.
std::optional<Cut> cut_of(const Op& op, const TensorSpecs& in, const TensorSpecs& out);

/// Of which every element is computed by itself; scatters are none.
bool is_elementwise(const Op& op);

/// The op for so many rows of the batch.
OpPtr with_rows(const OpPtr& op, int64_t rows);

}  // namespace crescent::cpu
