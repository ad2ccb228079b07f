// The graph of a functional model, worked out once: calls in topological order over numbered slots.
#pragma once
#include "model/model_access.h"

namespace crescent {

struct Functional::Graph {
  struct Call {
    NodePtr node;
    std::vector<int> inputs, outputs;                 ///< slots
  };
  std::vector<Symbol> inputs, outputs;
  std::vector<LayerPtr> layers;                       ///< deepest first (Keras' order)
  std::vector<Call> calls;
  std::vector<int> input_slots, output_slots;
  int slots = 0;
};

}  // namespace crescent
