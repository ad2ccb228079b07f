// Registration where a class is written. A source of a plugin ends with what it registers, under a
// name that no other source of the plugin has:
//
//   CRESCENT_REGISTER(scale) { registry.add<Scale>("Scale"); }
//
// What all sources of the library register so is in its list. CRESCENT_PLUGIN (plugin.h), which
// stands in one of them, goes through the list when the plugin is set up, in the order of the
// names; nothing is registered before. A source out of a static library is there only where
// something else refers to it.
#pragma once
#include <cstring>

#include "crescent/registry/registry.h"

namespace crescent {

/// A link of the list. It is hidden, so that every library has a list of its own.
class __attribute__((visibility("hidden"))) Registration {
 public:
  Registration(const char* name, void (*add)(Registry& registry)) : name_(name), add_(add) {
    Registration** place = &first_;
    while (*place && std::strcmp((*place)->name_, name) < 0) place = &(*place)->next_;
    next_ = *place;
    *place = this;
  }
  Registration(const Registration&) = delete;
  static void run_all(Registry& registry) {
    for (const Registration* each = first_; each; each = each->next_) each->add_(registry);
  }

 private:
  const char* name_;
  void (*add_)(Registry& registry);
  Registration* next_ = nullptr;
  static inline constinit Registration* first_ = nullptr;
};

}  // namespace crescent

#define CRESCENT_REGISTER(name)                                                                   \
  static void crescent_register_##name(::crescent::Registry& registry);                           \
  static ::crescent::Registration crescent_registration_##name(#name, &crescent_register_##name); \
  static void crescent_register_##name([[maybe_unused]] ::crescent::Registry& registry)
