// The families of operations, each a file: rows, and above them what the rows call.
#pragma once
#include "shared/shared.h"

namespace crescent::operations {

void add_activations(Registry& registry);
void add_alignments(Registry& registry);
void add_arithmetic(Registry& registry);
void add_comparisons(Registry& registry);
void add_complex(Registry& registry);
void add_convolutions(Registry& registry);
void add_creation(Registry& registry);
void add_indexing(Registry& registry);
void add_networks(Registry& registry);
void add_own(Registry& registry);
void add_products(Registry& registry);
void add_rearranging(Registry& registry);
void add_reductions(Registry& registry);
void add_segments(Registry& registry);
void add_shapes(Registry& registry);
void add_sorting(Registry& registry);
void add_special(Registry& registry);

/// Of what is sorted, the middle or the mean of the two there.
Tensor median(const Tensor& x, const std::vector<int>& axes, bool keepdims);
/// Places of what is not zero, a tensor an axis.
Tensors nonzero(const Tensor& x);
/// The k-th diagonal of two axes, as the last axis.
Tensor diagonal(const Tensor& x, int64_t k, int axis1, int axis2);

}  // namespace crescent::operations
