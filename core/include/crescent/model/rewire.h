// rewire(): makes a new model of the layers of another one, with some of them replaced.
//
//   const LayerPtr head = make<Layer>("Dense", {{"units", 5}});
//   auto other = rewire(*model, {{model->get_layer("head"), head},    // replaced
//                                {model->get_layer("drop"), {}}});    // removed
#pragma once
#include <functional>
#include <variant>

#include "crescent/model/model.h"

namespace crescent {

/// A replacement of a layer or of an edge of the graph.
struct Replacement {
  /// The part of the graph that is replaced: a layer in all its calls, or an edge (a Symbol).
  std::variant<LayerPtr, Symbol> old_element;
  /// What replaces `old_element`. A layer is called in place of the old layer. A null layer removes
  /// the old layer, which must have one input and one output. An edge replaces the old edge, or the
  /// only output of the old layer, wherever the old edge was used; if the new edge is computed from
  /// the old edge, this inserts layers.
  std::variant<LayerPtr, Symbol> new_element;
};

/// Calls a layer of the new model on inputs in place of `layer(inputs, options)`; it may call other
/// layers before and after.
using LayerCall = std::function<std::vector<Symbol>(
    const LayerPtr& layer, const std::vector<Symbol>& inputs, const CallOptions& options)>;

/// Returns a model with the inputs and outputs of `model`, which must be a graph and is unchanged.
/// The two models share layers and weights; layers that depend on a replacement are called once
/// more. An input can be replaced by an edge from another Input. Layers inside nested models are
/// not searched: rewire a nested model and replace it. The new model is not compiled; if the
/// optimizer of the old model is passed to compile, it keeps its state. If `call` is not empty, it
/// calls all layers, also those that do not depend on a replacement.
CRESCENT_API std::shared_ptr<Functional> rewire(const Model& model,
                                                const std::vector<Replacement>& replacements,
                                                std::string name = "", const LayerCall& call = {});

}  // namespace crescent
