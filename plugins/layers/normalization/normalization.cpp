#include "crescent/plugin.h"
#include "normalization_layers.h"

CRESCENT_PLUGIN("normalization", CRESCENT_VERSION) {
  crescent::add_batch_normalization(registry);
  crescent::add_layer_normalization(registry);
  crescent::add_group_normalization(registry);
}
