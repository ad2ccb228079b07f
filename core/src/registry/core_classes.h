// Functions that the registry calls and that need classes of layers and models. They are defined
// beside these classes, so that the registry does not depend on them.
#pragma once
#include <memory>

namespace crescent {

class Configurable;
class Registry;
class Value;

/// Registers the classes of core: InputLayer, Sequential, Functional, ... The registry calls it
/// once, when it first looks for a class that is not registered.
void register_core_classes(Registry& registry);

/// Returns an activation that calls the layer; null for an object that is not a layer.
std::shared_ptr<Configurable> layer_as_activation(const std::shared_ptr<Configurable>& object);

/// Returns an initializer whose values are the elements of the tensor; null for a value that is not
/// a tensor.
std::shared_ptr<Configurable> tensor_as_initializer(const Value& value);

}  // namespace crescent
