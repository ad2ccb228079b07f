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
  static Tensors& call_losses(Layer& layer) { return layer.call_losses_; }
  /// Fails when `outer` is `inner` or somewhere below it.
  static void refuse_cycle(const Layer& outer, Layer& inner);
  /// Goes without recursion, however long the chain of producers behind it is.
  static NodePtr make_node();
  static void add_node(const NodePtr& node);
  static std::vector<Symbol> graph_inputs(const Layer& layer) { return layer.graph_inputs(); }
  static std::vector<Symbol> graph_outputs(const Layer& layer) { return layer.graph_outputs(); }
  static void set_built(Layer& layer, bool built) { layer.built_ = built; }
  static void set_autocast(Layer& layer, bool on) { layer.autocast_ = on; }
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
