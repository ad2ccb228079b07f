// Layers that are wrong in one way each.
#pragma once
#include <string>

namespace crescent {

/// What check_layer has to find.
struct BrokenLayer {
  const char* name;
  std::string check;  ///< the row that fails
  std::string says;   ///< part of its text
};

/// Registers the layers, each under its name.
const std::vector<BrokenLayer>& broken_layers();

}  // namespace crescent
