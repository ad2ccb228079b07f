// Encodings of indices from 0 to depth - 1 as input for models.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// The values of the option output_mode.
inline constexpr const char *kIndices = "int", *kOneHot = "one_hot", *kMultiHot = "multi_hot",
                            *kCount = "count";

/// The number of occurrences of each index along the last axis: (..., n) -> (..., depth). Indices
/// outside of 0 to depth - 1 are not counted.
Tensor count_indices(const Tensor& indices, int64_t depth, DType dtype);

/// Encodes indices by `mode`. "int" keeps them; "one_hot" gives a vector for each index with 1 at
/// the index (a last axis of size 1 is dropped); "multi_hot" gives one vector for axis 1 (axis
/// 0 of a vector) with 1 at all indices; "count" gives the number of occurrences of each index.
Tensor encode_indices(const Tensor& indices, const std::string& mode, int64_t depth, DType dtype);

/// The present name of a mode, for which files of tf.keras may have an older name.
std::string current_mode(const std::string& mode);

/// Fails with the message of Keras unless the mode is one of `allowed_modes`.
void check_mode(const std::string& mode, std::initializer_list<const char*> allowed_modes);

/// Sets the dtype policy of a layer with integer results to int64, unless the user gave another
/// policy.
void default_to_int64(const std::string& mode, DTypePolicy& policy);

/// Fails if `is_sparse`, the value of the option sparse, is true, since tensors are always dense.
void refuse_sparse(bool is_sparse);

}  // namespace crescent
