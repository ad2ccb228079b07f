// The table of layers for check_layer: each row tells how to make a layer, and its inputs.
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
/// The rows of layers that change images, which layer_rows() contains too.
std::vector<LayerRow> augmentation_rows();

}  // namespace crescent
