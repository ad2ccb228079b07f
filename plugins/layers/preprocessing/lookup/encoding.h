// Places from 0 to depth - 1 as what a model takes.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// Of the options output_mode.
inline constexpr const char *kPlaces = "int", *kOneHot = "one_hot", *kMultiHot = "multi_hot",
                            *kCount = "count";

/// How often each place is among those of the last axis: (..., n) -> (..., depth). Places outside
/// of 0..depth-1 are left out.
Tensor count_places(const Tensor& places, int64_t depth, DType dtype);

/// "int": the places; "one_hot": a vector for each, 1 at its place (a last axis of 1 goes);
/// "multi_hot": one for those along the last axis, 1 at the places of all; "count": how often each
/// is there.
Tensor encode_places(const Tensor& places, const std::string& mode, int64_t depth, DType dtype);

/// Files of tf.keras have older names of modes.
std::string mode_of_today(const std::string& mode);

/// Fails in the words of Keras unless the mode is one of `allowed`.
void check_mode(const std::string& mode, std::initializer_list<const char*> allowed);

/// Places are integers: the policy of a layer that gives them is int64 unless another is asked for.
void places_are_integers(const std::string& mode, DTypePolicy& policy);

/// Tensors are dense.
void refuse_sparse(bool sparse);

}  // namespace crescent
