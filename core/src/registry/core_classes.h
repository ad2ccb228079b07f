// What the registry is told from floors above it, and defines nothing of.
#pragma once
#include <cstdint>

namespace crescent {

class Registry;

/// InputLayer, Sequential, Functional, ...: classes that are part of core. Called once, at the
/// first question that the registry cannot answer yet. Weak: a core without models has none.
__attribute__((weak)) void register_core_classes(Registry& registry);

/// What a plugin's stamp is compared with. Defined where all public types are known.
struct HostStamp {
  const char* toolchain;
  uint64_t layout;
};
HostStamp host_stamp();

}  // namespace crescent
