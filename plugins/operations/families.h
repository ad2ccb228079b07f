// The families of operations, each a file of rows; what they call is in the headers of ops.
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

}  // namespace crescent::operations
