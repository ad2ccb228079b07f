// The families of operations on images, each a file.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

void add_boxes(Registry& registry);
void add_box_pairs(Registry& registry);
void add_images(Registry& registry);
void add_project_images(Registry& registry);
void add_sample_images(Registry& registry);
void add_sampling(Registry& registry);

}  // namespace crescent::operations
