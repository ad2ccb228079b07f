// The files of this plugin; each adds its classes.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {
void add_bounding_boxes(Registry& registry);
void add_rescaling(Registry& registry);
void add_normalization(Registry& registry);
void add_resizing(Registry& registry);
void add_category_encoding(Registry& registry);
void add_discretization(Registry& registry);
void add_hashing(Registry& registry);
void add_hashed_crossing(Registry& registry);
void add_integer_lookup(Registry& registry);
void add_string_lookup(Registry& registry);
void add_text_vectorization(Registry& registry);
}  // namespace crescent
