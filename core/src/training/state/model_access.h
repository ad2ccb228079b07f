// Access to private members of models within core.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

struct ModelAccess {
  using Graph = Functional::Graph;
  using LossOrMetric = Functional::LossOrMetric;
  using Training = Model::Training;
  static const Graph* graph(const Functional& model) { return model.graph_.get(); }
  /// Makes a graph from its inputs, outputs, losses and metrics, which are the only members of
  /// `endpoints` that are set.
  static std::shared_ptr<const Graph> make_graph(Graph endpoints);
  static void adapt(const Model& model, const std::vector<Shape>& input_shapes) {
    model.adapt(input_shapes);
  }
  static Training& training(const Model& model) { return *model.training_; }
};

}  // namespace crescent
