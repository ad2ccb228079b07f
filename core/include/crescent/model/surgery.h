// Surgery makes a new model of the layers of another one, with a layer put in, exchanged or left
// out, of a part of it, or on other inputs.
//
//   SurgeryResult cut = remove_layer(*model, "backbone/dropout");
//   for (const std::string& line : change_lines(cut.changes)) std::puts(line.c_str());
//   cut.model->fit({x}, {y});
//
// The model that is operated on is unchanged. Both share their layers and weights, so that training
// one trains what it has in common with the other. A Sequential gives a Sequential, but for
// cut. A layer is named by its name in the model, or by a path "backbone/conv_3" through nested
// models; the models on the way are made anew under their names. Every call of a shared layer is
// meant.
//
// A compiled model gives a compiled one, with the same optimizer, losses, metrics, trainable flags,
// order of samples and count of epochs. The optimizer keeps its count of steps and the slots of the
// weights that stay; those of new weights begin empty.
#pragma once
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent {

/// A layer that is in one of the two models alone, or whose output shapes differ.
struct LayerChange {
  std::string layer;          ///< its path
  std::string change;         ///< "new", "removed", "replaced" or "reshaped"
  std::vector<Shape> before;  ///< the shapes of its outputs in all its calls; empty: none, unknown
  std::vector<Shape> after;
  std::string weights;  ///< "2 kept", "1 carried, 1 new", "2 dropped"; empty without weights
};
/// The changes as a table of text.
CRESCENT_API std::vector<std::string> change_lines(const std::vector<LayerChange>& changes);

struct SurgeryResult {
  std::shared_ptr<Functional> model;
  std::vector<LayerChange> changes;  ///< in the order of the new model, what was removed last
};

/// Calls `next` on the output of a layer, and what followed the layer on the output of `next`.
CRESCENT_API SurgeryResult insert_after(const Model& model, const std::string& path,
                                        const LayerPtr& next);
/// Calls `by` in place of a layer. With `carry_weights`, the weights that `by` gets by that call
/// take the values of the old ones with the same name and shape.
CRESCENT_API SurgeryResult replace_layer(const Model& model, const std::string& path,
                                         const LayerPtr& by, bool carry_weights = true);
/// Leaves a layer with one input and one output out.
CRESCENT_API SurgeryResult remove_layer(const Model& model, const std::string& path);
/// Returns the part of a graph from the inputs of the layer `from`, which become new inputs (empty:
/// those of the model), to the outputs of the layers `to` (empty: those of the model). Is compiled
/// only where the outputs are those of the model. `from` is no path into nested models, and
/// masks do not come in by new inputs.
CRESCENT_API SurgeryResult cut(const Model& model, const std::string& from,
                               const std::vector<std::string>& to);
/// Calls the layers on other symbols in place of the inputs: new inputs, or outputs of another
/// model, whose layers then belong to the new one.
CRESCENT_API SurgeryResult rebase(const Model& model, const std::vector<Symbol>& inputs);

}  // namespace crescent
