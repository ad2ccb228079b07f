// Model surgery: another model of the same layers, some of them exchanged.
//
//   auto body = model->get_layer("body"), head = make<Layer>("Dense", {{"units", 5}});
//   auto other = rewire(*model, {{model->get_layer("head"), head}, {model->get_layer("drop"),
//   {}}});
#pragma once
#include <variant>

#include "crescent/model/model.h"

namespace crescent {

/// What takes the place of what in a graph.
struct Replacement {
  /// A layer, in all its calls, or an edge.
  std::variant<LayerPtr, Symbol> old;
  /// A layer, which is called as the old one was; none, where a layer with one input and one output
  /// is left out; or an edge, wherever the old edge, or the only output of the old layer, was used.
  /// An edge may be made from the old one: that puts layers in between.
  std::variant<LayerPtr, Symbol> by;
};

/// A model with the inputs and outputs of this one, which must be a graph and stays as it is. Both
/// share their layers and weights; behind a change, layers are called once more. An input gives way
/// to an edge from another Input. Layers inside of nested models are not seen: rewire those, and
/// replace them. The new model is not compiled; an optimizer of the old one that is given to
/// compile goes on with its state.
CRESCENT_API std::shared_ptr<Functional> rewire(const Model& model,
                                                const std::vector<Replacement>& replacements,
                                                std::string name = "");

}  // namespace crescent
