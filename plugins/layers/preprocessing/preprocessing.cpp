// Layers that prepare data, inside a model or before it.
#include "crescent/plugin.h"
#include "preprocessing_layers.h"

CRESCENT_PLUGIN("preprocessing", CRESCENT_VERSION) {
  crescent::add_rescaling(registry);
  crescent::add_normalization(registry);
}
