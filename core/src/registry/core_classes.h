// Functions that the registry calls; they are defined in the folders of core that have classes.
#pragma once
#include <memory>

namespace crescent {

class Configurable;
class Registry;
class Value;

/// Registers the classes of core: InputLayer, Sequential, Functional, ... The registry calls it
/// once, when it first looks for a class that is not registered.
void register_core_classes(Registry& registry);

/// Returns a layer as an activation; null for an object that is not a layer.
std::shared_ptr<Configurable> layer_as_activation(const std::shared_ptr<Configurable>& object);

/// Returns a tensor as an initializer that gives its elements; null for a value that is no tensor.
std::shared_ptr<Configurable> tensor_as_initializer(const Value& value);

}  // namespace crescent
