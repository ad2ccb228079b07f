// Layers with one fault each.
#pragma once
#include <string>

namespace crescent {

/// A faulty layer and the check that must find it.
struct BrokenLayer {
  const char* name;
  std::string check;  ///< the row that fails
  std::string says;   ///< a part of the row's text
};

/// Registers the layers, each under its name.
const std::vector<BrokenLayer>& broken_layers();

}  // namespace crescent
