// What the registry is told from floors above it, and defines nothing of.
#pragma once

namespace crescent {

class Registry;

/// InputLayer, Sequential, Functional, ...: classes that are part of core. Called once, at the
/// first question that the registry cannot answer yet. Weak: a core without models has none.
__attribute__((weak)) void register_core_classes(Registry& registry);

}  // namespace crescent
