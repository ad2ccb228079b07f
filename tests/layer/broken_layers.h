// Layers each of which has one fault, to test check_layer.
#pragma once
#include <string>

namespace crescent {

/// A faulty layer and the check that must find it.
struct BrokenLayer {
  const char* name;
  std::string check;          ///< the row of check_layer's report that must fail
  std::string expected_text;  ///< a part of the row's text
};

/// Registers the faulty layers under their names and returns the list of them.
const std::vector<BrokenLayer>& broken_layers();

}  // namespace crescent
