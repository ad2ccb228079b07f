#include "families.h"

#include "crescent/plugin.h"

CRESCENT_PLUGIN("image_operations", CRESCENT_VERSION) {
  using namespace crescent::operations;
  add_boxes(registry);
  add_box_pairs(registry);
  add_images(registry);
  add_project_images(registry);
  add_sample_images(registry);
  add_sampling(registry);
}
