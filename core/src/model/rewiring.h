// The common part of rewire() and surgery: rebuilds a graph in which layers after a change are
// called again.
#pragma once
#include "crescent/model/rewire.h"

namespace crescent {

struct GraphEdit {
  const char* verb = "rewire";  ///< the name of the operation in messages
  std::vector<Replacement> replacements{};
  /// `next_layer` is called on the output of every call of `layer`.
  LayerPtr layer{}, next_layer{};
  /// Calls the layers of the new model; empty: they are called only where something before them
  /// has changed.
  LayerCall call{};
  /// The inputs of the new model; empty: the inputs of the old one, with replacements.
  std::vector<Symbol> inputs{};
  /// The edges of the old model that become outputs of the new one; empty: the outputs of the old
  /// model, and its added losses and metrics are kept.
  std::vector<Symbol> outputs{};
};
/// A new input with the shape and the dtype of a symbol.
Symbol input_like(const Symbol& symbol);

std::shared_ptr<Functional> edited(const Model& model, const GraphEdit& edit, std::string name);

}  // namespace crescent
