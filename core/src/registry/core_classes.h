// What the registry calls of the classes that are part of core; their rooms define it.
#pragma once
#include <memory>

namespace crescent {

class Configurable;
class Registry;

/// InputLayer, Sequential, Functional, ...: classes that are part of core. Called once, at the
/// first question that the registry cannot answer yet.
void register_core_classes(Registry& registry);

/// A layer where an activation is expected; null for an object that is no layer.
std::shared_ptr<Configurable> layer_as_activation(const std::shared_ptr<Configurable>& object);

}  // namespace crescent
