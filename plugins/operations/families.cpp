#include "families.h"

#include "crescent/plugin.h"

CRESCENT_PLUGIN("operations", CRESCENT_VERSION) {
  using namespace crescent::operations;
  add_activations(registry);
  add_alignments(registry);
  add_arithmetic(registry);
  add_comparisons(registry);
  add_complex(registry);
  add_convolutions(registry);
  add_creation(registry);
  add_indexing(registry);
  add_networks(registry);
  add_own(registry);
  add_products(registry);
  add_rearranging(registry);
  add_reductions(registry);
  add_segments(registry);
  add_shapes(registry);
  add_sorting(registry);
  add_special(registry);
}
