// The common part of rewire() and surgery: rebuilds a graph in which layers after a change are
// called again.
#pragma once
#include "crescent/model/rewire.h"

namespace crescent {

struct GraphEdit {
  const char* verb = "rewire";  ///< for messages
  std::vector<Replacement> replacements{};
  /// `next` is called on the output of every call of `layer`.
  LayerPtr layer{}, next{};
  /// The inputs of the new model; empty: those of the old one, as they are replaced.
  std::vector<Symbol> inputs{};
  /// The edges of the old model that the new one ends with; empty: its outputs, with the losses and
  /// metrics that were added to it.
  std::vector<Symbol> outputs{};
};
std::shared_ptr<Functional> edited(const Model& model, const GraphEdit& edit, std::string name);

}  // namespace crescent
