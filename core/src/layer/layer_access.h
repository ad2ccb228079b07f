// Access to private members of layers for graphs and models.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

class VariableList;

struct LayerAccess {
  /// Runs f. If f throws an error that names no layer inside `layer` yet, the name of `layer` is
  /// added to it.
  template <class F>
  static auto with_name_in_errors(Layer& layer, F f) -> decltype(f());

  static void ensure_name(Layer& layer);
  /// The losses that add_loss collected in the layer and its sublayers.
  static Tensors added_losses(const Layer& layer);
  /// Removes the losses that add_loss collected in the layer and its sublayers.
  static void forget_losses(Layer& layer);
  // The following functions are the steps of a layer call.
  static void check_input_count(const Layer& layer, size_t received);
  static void cast_to_compute_dtype(const Layer& layer, Tensors& tensors);
  static Tensors call(Layer& layer, const Tensors& inputs, const Call& call);
  /// Returns abstract outputs with the specs of the layer's output symbols if the layer is a
  /// functional model and `inputs` have the specs of its input symbols. Returns an empty list for
  /// other layers, and if the outputs of this call may have other specs.
  static Tensors recorded_outputs(const Layer& layer, const Node& node, const Tensors& inputs);
  static void attach_masks(Layer& layer, const Tensors& inputs, const Tensors& masks,
                           Tensors& outputs);
  /// Sets the dtypes of later calls and of weights that are created later.
  static void set_policy(Layer& layer, const DTypePolicy& policy);
  /// The layers that have this one as a sublayer.
  static const std::vector<Layer*>& owners(const Layer& layer) { return layer.owners_; }
  /// Fails when `outer_layer` is `inner_layer` or one of its sublayers.
  static void refuse_cycle(const Layer& outer_layer, const Layer& inner_layer);
  /// Makes a node whose destructor does not recurse, however long the chain of nodes is that it
  /// owns through its inputs.
  static std::shared_ptr<Node> make_node();
  static void add_node(const NodePtr& node);
  static void replace_sublayers(Layer& owner, std::vector<LayerPtr> sublayers);
  /// Replaces a sublayer by one that computes the same function. The structure version does not
  /// change, so compiled steps of models stay valid.
  static void replace_sublayer(Layer& owner, const LayerPtr& old_sublayer,
                               const LayerPtr& new_sublayer);
  /// Sets the structure version, by which models notice changes of their layers, in the layer and
  /// in all layers that contain it.
  static void set_version(Layer& layer, uint64_t version);
  // add_trainable appends the weights of the layer and its sublayers that training changes;
  // add_fixed appends the other weights.
  static void add_trainable(const Layer& layer, VariableList& list);
  static void add_fixed(const Layer& layer, VariableList& list);
  /// Appends the weights of the layer and the states of its random generators, then those of its
  /// sublayers.
  static void add_state(const Layer& layer, VariableList& list);
  // Read and set the flag `trainable` of this layer alone. Unlike the public property, they change
  // neither its sublayers nor the counters by which models notice such changes.
  static bool trainable_flag(const Layer& layer) { return layer.trainable_; }
  static void set_trainable_flag(Layer& layer, bool on) { layer.trainable_ = on; }
  /// Removes nodes that no longer exist from the lists of the layer and numbers the others from 0.
  static void prune_nodes(const Layer& layer);
};

/// Must be called in a catch handler: rethrows the current exception as an error that names the
/// layer, unless it names a layer inside this one already.
[[noreturn]] void rethrow_named(const Layer& layer);

template <class F>
auto LayerAccess::with_name_in_errors(Layer& layer, F f) -> decltype(f()) {
  try {
    return f();
  } catch (...) {
    rethrow_named(layer);
  }
}

}  // namespace crescent
