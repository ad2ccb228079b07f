// Layers that each contain one mistake, which check_layer must find.
#pragma once
#include <string>

namespace crescent {

/// A layer and the failed check that its report must contain.
struct BrokenLayer {
  const char* name;
  std::string check;  ///< the row that fails
  std::string says;   ///< a part of the row's text
};

/// Registers the layers, each under its name.
const std::vector<BrokenLayer>& broken_layers();

}  // namespace crescent
