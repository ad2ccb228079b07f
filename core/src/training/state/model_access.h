// Access to private members of models within core.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

struct ModelAccess {
  using Graph = Functional::Graph;
  using Addition = Functional::Addition;
  using Training = Model::Training;
  static const Graph* graph(const Functional& model) { return model.graph_.get(); }
  /// Makes a graph from its inputs, outputs and additions, which are the only members of `ends`
  /// that are set.
  static std::shared_ptr<const Graph> make_graph(Graph ends);
  static void adapt(const Model& model, const std::vector<Shape>& inputs) { model.adapt(inputs); }
  static Training& training(const Model& model) { return *model.training_; }
};

}  // namespace crescent
