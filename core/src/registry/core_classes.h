// What the registry is told from floors above it, and defines nothing of.
#pragma once
#include <memory>

namespace crescent {

class Configurable;
class Registry;

/// InputLayer, Sequential, Functional, ...: classes that are part of core. Called once, at the
/// first question that the registry cannot answer yet. Weak: a core without models has none.
__attribute__((weak)) void register_core_classes(Registry& registry);

/// A layer where an activation is expected; null for an object that is no layer. Weak: a core
/// without layers has none.
__attribute__((weak)) std::shared_ptr<Configurable> layer_as_activation(
    const std::shared_ptr<Configurable>& object);

}  // namespace crescent
