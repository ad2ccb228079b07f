// Access to private members of layers for graphs and models.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

class VariableList;

struct LayerAccess {
  /// Runs f; an error in it gets the name of `layer`, unless it names an inner one already.
  template <class F>
  static auto named(Layer& layer, F f) -> decltype(f());

  static void ensure_name(Layer& layer);
  /// Drops the losses that add_loss collected in the layer and its sublayers.
  static void forget_losses(Layer& layer);
  // The steps of a call.
  static void check_count(const Layer& layer, size_t received);
  static void cast_to_compute(const Layer& layer, Tensors& tensors);
  static Tensors call(Layer& layer, const Tensors& inputs, const Call& call);
  /// The outputs of a graph called on symbols with the same specs as its own inputs, read from the
  /// recorded symbols; empty if these do not determine the outputs.
  static Tensors outputs_as_known(const Layer& layer, const Node& node, const Tensors& inputs);
  static void attach_masks(Layer& layer, const Tensors& inputs, const Tensors& masks,
                           Tensors& outputs);
  /// Fails when `outer` is `inner` or one of its sublayers.
  static void refuse_cycle(const Layer& outer, const Layer& inner);
  /// Makes a node whose destructor does not recurse, however long the chain of its producers is.
  static std::shared_ptr<Node> make_node();
  static void add_node(const NodePtr& node);
  static void replace_sublayers(Layer& owner, std::vector<LayerPtr> sublayers);
  /// Replaces a sublayer by one that computes the same, which does not change the structure
  /// version.
  static void replace_sublayer(Layer& owner, const LayerPtr& old, const LayerPtr& by);
  /// Sets the structure version of the layer and of all layers that contain it.
  static void mark(Layer& layer, uint64_t version);
  // Append the weights of the layer and its sublayers that training changes, and the others.
  static void add_trainable(const Layer& layer, VariableList& list);
  static void add_fixed(const Layer& layer, VariableList& list);
  // The flag trainable of this layer alone; setting it notifies nothing.
  static bool own_trainable(const Layer& layer) { return layer.trainable_; }
  static void set_own_trainable(Layer& layer, bool on) { layer.trainable_ = on; }
  /// Numbers the living nodes of a layer from 0.
  static void prune_nodes(const Layer& layer);
};

/// Called in a catch handler: rethrows the current exception as an error that names the layer,
/// unless it names an inner one.
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
