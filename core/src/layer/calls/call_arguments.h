// Checks the named arguments of layer calls: the layer must declare them, and each value must be of
// the kind of the declared default, such as a boolean.
#pragma once
#include <functional>

#include "crescent/layer/layer.h"

namespace crescent {

/// Fails on arguments that the layer does not declare and on values of another kind than the
/// declared default. Positional arguments get the names that the layer declares. If the layer
/// declares an argument as an input, its tensors are moved from `arguments` to `inputs`.
void arrange_arguments(const Layer& layer, Dict& arguments, Tensors& inputs);
void arrange_arguments(const Layer& layer, Dict& arguments, std::vector<Symbol>& inputs);

/// Removes the explicit masks from `arguments` and returns them: a tensor, or a list with null or
/// false for inputs without mask. The elements of a numeric mask are true where they are not 0.
Tensors take_masks(Dict& arguments);

/// The name of the argument by which a node records that masks were passed to the call explicitly.
inline constexpr const char* kExplicitMask = "mask";

/// The value of `training` for a call that does not pass it and that no other layer makes: the
/// default that the layer declares for its argument `training`; false if it declares none.
bool trains_by_itself(const Layer& layer);

/// Adds the declared defaults of arguments that `arguments` lacks.
Dict with_defaults(const std::vector<Argument>& declared_arguments, Dict arguments);

/// Returns the boxed symbols in `arguments`, in the order in which replace_symbols visits them.
std::vector<Symbol> symbols_in(const Dict& arguments);
Dict replace_symbols(const Dict& arguments, const std::function<Value(const Symbol&)>& replacement);

/// Repeats the layer call that the node records, on `tensors` in place of its inputs; an empty
/// Tensor stands for a missing optional input. `training` is used only if the node stores no value
/// of `training`.
Tensors call_again(const Node& node, const Tensors& tensors, std::optional<bool> training);

}  // namespace crescent
