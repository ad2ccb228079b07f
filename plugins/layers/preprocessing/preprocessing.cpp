// Layers that preprocess data, in a model or before it.
#include "crescent/plugin.h"
#include "preprocessing_layers.h"

CRESCENT_PLUGIN("preprocessing", CRESCENT_VERSION) {
  crescent::add_bounding_boxes(registry);
  crescent::add_rescaling(registry);
  crescent::add_normalization(registry);
  crescent::add_resizing(registry);
  crescent::add_category_encoding(registry);
  crescent::add_discretization(registry);
  crescent::add_hashing(registry);
  crescent::add_hashed_crossing(registry);
  crescent::add_integer_lookup(registry);
  crescent::add_string_lookup(registry);
  crescent::add_text_vectorization(registry);
}
