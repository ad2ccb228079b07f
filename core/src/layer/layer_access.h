// What graphs and models do with layers that nobody else may.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

class VariableList;

struct LayerAccess {
  /// Errors name `layer` once, whatever it is called in.
  template <class F>
  static auto named(Layer& layer, F f) -> decltype(f());

  static void ensure_name(Layer& layer);
  /// Forgets what add_loss collected, in the layer and below.
  static void forget_losses(Layer& layer);
  // The parts of a call.
  static void check_count(const Layer& layer, size_t received);
  static void cast_to_compute(const Layer& layer, Tensors& tensors);
  static Tensors call(Layer& layer, const Tensors& inputs, const Call& call);
  /// What a graph gives for symbols like its own; none where that is not known.
  static Tensors outputs_as_known(const Layer& layer, const Node& node, const Tensors& inputs);
  static void attach_masks(Layer& layer, const Tensors& inputs, const Tensors& masks,
                           Tensors& outputs);
  /// Fails when `outer` is `inner` or somewhere below it.
  static void refuse_cycle(const Layer& outer, const Layer& inner);
  /// Goes without recursion, however long the chain of producers behind it is.
  static std::shared_ptr<Node> make_node();
  static void add_node(const NodePtr& node);
  static void replace_sublayers(Layer& owner, std::vector<LayerPtr> sublayers);
  /// By one that computes the same: no change of structure.
  static void replace_sublayer(Layer& owner, const LayerPtr& old, const LayerPtr& by);
  /// The version for the layer and all above it.
  static void mark(Layer& layer, uint64_t version);
  // Weights here and below that training changes, and the others.
  static void add_trainable(const Layer& layer, VariableList& list);
  static void add_fixed(const Layer& layer, VariableList& list);
  // What trainable says, for this layer alone; nobody hears of a change.
  static bool own_trainable(const Layer& layer) { return layer.trainable_; }
  static void set_own_trainable(Layer& layer, bool on) { layer.trainable_ = on; }
  /// Numbers the living calls of a layer from 0.
  static void prune_nodes(const Layer& layer);
};

/// Ends a handler: what is handled becomes an error that names the layer, unless it names an inner
/// one.
[[noreturn]] void rethrow_named(const Layer& layer);

template <class F>
auto LayerAccess::named(Layer& layer, F f) -> decltype(f()) {
  try {
    return f();
  } catch (...) {
    rethrow_named(layer);
  }
}

}  // namespace crescent
