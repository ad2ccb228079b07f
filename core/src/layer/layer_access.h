// What graphs and models do with layers that nobody else may.
#pragma once
#include "crescent/layer.h"

namespace crescent {

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
  static void attach_masks(Layer& layer, const Tensors& inputs, const Tensors& masks, Tensors& outputs);
  /// Fails when `outer` is `inner` or somewhere below it.
  static void refuse_cycle(const Layer& outer, Layer& inner);
  /// Goes without recursion, however long the chain of producers behind it is.
  static NodePtr make_node();
  static void add_node(const NodePtr& node);
  static void replace_sublayers(Layer& layer, std::vector<LayerPtr> sublayers) { layer.sublayers_ = std::move(sublayers); }
  /// Numbers the living calls of a layer from 0.
  static void prune_nodes(const Layer& layer);
};

/// Gives `error` the name of the layer unless an inner one has named itself already.
[[noreturn]] void rethrow_named(const Layer& layer, const Error& error);

template <class F>
auto LayerAccess::named(Layer& layer, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    rethrow_named(layer, error);
  }
}

}  // namespace crescent
