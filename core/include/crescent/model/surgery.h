// Surgery makes a new model from the layers of another one: it inserts, replaces or removes a
// layer, cuts out a part of the graph, or calls the layers on other inputs.
//
//   SurgeryResult cut = remove_layer(*model, "backbone/dropout");
//   for (const std::string& line : change_lines(cut.changes)) std::puts(line.c_str());
//   cut.model->fit({x}, {y});
//
// The original model is unchanged. Both models share layers and weights, so that training one
// trains the shared layers of the other. The result for a Sequential is a Sequential, except
// that of cut(). A layer is identified by its name in the model, or by a path "backbone/conv_3"
// through nested models; new models with the same names replace the nested models on the path. A
// change applies to every call of a shared layer.
//
// The result for a compiled model is compiled, with the same optimizer, losses, metrics, trainable
// flags, order of samples and count of epochs. The optimizer keeps its step count and the slots of
// the weights that stay; the slots of new weights start at their initial values.
#pragma once
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent {

/// A layer that only one of the two models has, or whose output shapes differ.
struct LayerChange {
  std::string layer;   ///< the path of the layer
  std::string change;  ///< "new", "removed", "replaced" or "reshaped"
  /// Output shapes of all calls of the layer in the old model; empty: none or unknown.
  std::vector<Shape> before;
  std::vector<Shape> after;  ///< those in the new model; empty: none or unknown
  std::string weights;       ///< "2 kept", "1 carried, 1 new", "2 dropped"; empty without weights
};
/// Formats the changes as a text table.
CRESCENT_API std::vector<std::string> change_lines(const std::vector<LayerChange>& changes);

struct SurgeryResult {
  std::shared_ptr<Functional> model;
  /// The changes, in the order of the layers of the new model; removed layers come last.
  std::vector<LayerChange> changes;
};

/// Calls `next` on the output of a layer; the consumers of that output get the output of `next`
/// instead.
CRESCENT_API SurgeryResult insert_after(const Model& model, const std::string& path,
                                        const LayerPtr& next);
/// Calls `replacement` in place of a layer. With `carry_weights`, weights that this call creates in
/// `replacement` get the values of the old layer's weights with the same name and shape.
CRESCENT_API SurgeryResult replace_layer(const Model& model, const std::string& path,
                                         const LayerPtr& replacement, bool carry_weights = true);
/// Removes a layer that has one input and one output.
CRESCENT_API SurgeryResult remove_layer(const Model& model, const std::string& path);
/// Returns the part of a graph from the inputs of the layer `from`, which become new inputs (empty:
/// the model's inputs), to the outputs of the layers `to` (empty: the model's outputs). The part is
/// compiled only if its outputs are those of the model. `from` cannot be a path into nested models,
/// and new inputs carry no masks.
CRESCENT_API SurgeryResult cut(const Model& model, const std::string& from,
                               const std::vector<std::string>& to);
/// Calls the layers on other symbols in place of the inputs: on new inputs, or on outputs of
/// another model, whose layers then belong to the result.
CRESCENT_API SurgeryResult rebase(const Model& model, const std::vector<Symbol>& inputs);

}  // namespace crescent
