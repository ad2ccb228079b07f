// What the parts of a model know of each other and nobody else does.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

struct ModelAccess {
  using Graph = Functional::Graph;
  using Addition = Functional::Addition;
  using Training = Model::Training;
  static const Graph* graph(const Functional& model) { return model.graph_.get(); }
  /// `ends`: inputs, outputs and additions; the rest follows from them.
  static std::shared_ptr<const Graph> make_graph(Graph ends);
  static void adapt(const Model& model, const std::vector<Shape>& inputs) { model.adapt(inputs); }
  static Training& training(const Model& model) { return *model.training_; }
};

}  // namespace crescent
