// The cases of check_layer: options and inputs for each layer.
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
/// The rows of image augmentation layers; layer_rows() contains them.
std::vector<LayerRow> augmentation_rows();

}  // namespace crescent
