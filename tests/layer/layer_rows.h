// What check_layer is tried on: how to make a layer and what to feed it.
#pragma once
#include <span>
#include <vector>

#include "crescent/crescent.h"

namespace crescent {

struct LayerRow {
  const char* name;
  Dict options;
  std::vector<Shape> inputs;
  double low = -1, high = 1;  ///< range of the input's values
  DType dtype = DType::float32;
};

std::span<const LayerRow> layer_rows();
/// Those of layers that change images, which are among them.
std::vector<LayerRow> augmentation_rows();

}  // namespace crescent
