// The graph of a functional model, worked out once: calls in topological order over numbered slots.
#pragma once
#include "training/state/model_access.h"

namespace crescent {

/// What is computed beside the outputs: a loss, or a metric when it has a name.
struct Functional::Addition {
  Symbol value;
  std::string metric;
  int slot = 0;
};

struct Functional::Graph {
  struct Call {
    NodePtr node;
    std::vector<int> inputs, outputs;  ///< slots
  };
  std::vector<Symbol> inputs{}, outputs{};
  std::vector<Addition> additions{};
  std::vector<LayerPtr> layers{};  ///< deepest first (Keras' order)
  std::vector<Call> calls{};
  std::vector<int> input_slots{}, output_slots{};
  int slots = 0;
};

/// A tensor as the graph's input `wanted` takes it: an axis of 1 at the end more or less is
/// forgiven, the dtype is converted.
Tensor fit_input(const Tensor& given, const Symbol& wanted, size_t index, const std::string& model);

}  // namespace crescent
