// The graph of a functional model: calls in topological order. The tensors that they read and
// compute have numbers, which are called slots.
#pragma once
#include "training/state/model_access.h"

namespace crescent {

/// A loss or a metric that was added to the graph with add_loss() or add_metric(); `metric_name` is
/// empty for a loss.
struct Functional::LossOrMetric {
  Symbol value;
  std::string metric_name;
  int slot = 0;
};

struct Functional::Graph {
  struct Call {
    NodePtr node;
    std::vector<int> input_slots;   ///< slots of the tensors that the call reads
    std::vector<int> output_slots;  ///< slots of the tensors that the call computes
  };
  std::vector<Symbol> inputs{}, outputs{};
  std::vector<LossOrMetric> losses_and_metrics{};
  /// The layers from inputs to outputs, in the order in which Keras lists them.
  std::vector<LayerPtr> layers{};
  std::vector<Call> calls{};
  std::vector<int> input_slots{}, output_slots{};
  int slot_count = 0;
};

/// Converts a tensor to the dtype and shape of the graph's input `graph_input`; a last axis of size
/// 1 may be missing or superfluous.
Tensor fit_input(const Tensor& input, const Symbol& graph_input, size_t index,
                 const std::string& model);

}  // namespace crescent
