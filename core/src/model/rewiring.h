// Makes a new graph from the graph of a model, in which some layers or edges are replaced. rewire()
// and the functions of surgery.h use it.
#pragma once
#include "crescent/model/rewire.h"

namespace crescent {

struct GraphEdit {
  const char* function_name = "rewire";  ///< the function that the user called, for messages
  std::vector<Replacement> replacements{};
  /// `next_layer` is called on the output of every call of `layer`.
  LayerPtr layer{}, next_layer{};
  /// A function that calls all layers of the new model. If it is empty, only layers whose inputs
  /// have changed are called again.
  LayerCall call{};
  /// The inputs of the new model. If the list is empty, they are the inputs of the old model or
  /// their replacements.
  std::vector<Symbol> inputs{};
  /// The edges of the old model that become outputs of the new one. If there are none, the outputs
  /// and the added losses and metrics of the old model are kept.
  std::vector<Symbol> outputs{};
};
/// Returns a new input with the shape and the dtype of a symbol.
Symbol input_like(const Symbol& symbol);

std::shared_ptr<Functional> edited_model(const Model& model, const GraphEdit& edit,
                                         std::string name);

}  // namespace crescent
