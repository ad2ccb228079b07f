// Common code of the layers of this plugin, and its files; each adds its classes.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

void add_dense(Registry& registry);
void add_embedding(Registry& registry);
void add_einsum_dense(Registry& registry);
void add_reversible_embedding(Registry& registry);
void add_simple_layers(Registry& registry);
}  // namespace crescent
