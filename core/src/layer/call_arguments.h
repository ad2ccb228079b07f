// What call takes by name: only what the layer declares, of the kind that it declares.
#pragma once
#include <functional>

#include "crescent/layer/layer.h"

namespace crescent {

/// Fails on arguments that the layer does not declare or that are of another kind. Those by
/// position get their names; those that are inputs by another name leave `arguments` and join
/// `inputs`.
void arrange_arguments(const Layer& layer, Dict& arguments, Tensors& inputs);
void arrange_arguments(const Layer& layer, Dict& arguments, std::vector<Symbol>& inputs);

/// Takes out of `arguments` the masks that a call is given: a tensor, or a list with null or false
/// for inputs that have none. Numbers count where they are not 0.
Tensors take_masks(Dict& arguments);

/// What is true among the arguments of a call that was given masks, besides what its inputs bring.
inline constexpr const char* kGivenMask = "mask";

/// Whether a call trains that is not told so and is in no other call: what the layer declares as
/// the default of an argument `training`, else no.
bool trains_by_itself(const Layer& layer);

/// `arguments` and the defaults of those that were not given.
Dict with_defaults(const std::vector<Argument>& declared, Dict arguments);

/// The boxed symbols in `arguments`, in the order in which replace_symbols meets them.
std::vector<Symbol> symbols_in(const Dict& arguments);
Dict replace_symbols(const Dict& arguments, const std::function<Value(const Symbol&)>& replacement);

/// The layer of the node once more, on tensors in place of the node's inputs; no tensor where an
/// optional input was not given. Training is the node's own word, or else this.
Tensors call_again(const Node& node, const Tensors& tensors, std::optional<bool> training);

}  // namespace crescent
