// Registration next to the class. A source file of a plugin ends with its registrations, under a
// name that is unique within the plugin:
//
//   CRESCENT_REGISTER(scale) { registry.add<Scale>("Scale"); }
//
// The registrations of all source files of a library are in one list. CRESCENT_PLUGIN (plugin.h),
// which one of the files contains, runs them in the order of their names when the plugin is set up,
// not earlier. If the files are in a static library, the linker leaves out a file to which no other
// file refers; its registrations are then missing.
#pragma once
#include <cstring>

#include "crescent/registry/registry.h"

namespace crescent {

/// A registration in the list of a library. The class has hidden visibility, so that every library
/// has its own list.
class __attribute__((visibility("hidden"))) Registration {
 public:
  Registration(const char* name, void (*add)(Registry& registry)) : name_(name), add_(add) {
    Registration** link = &first_;
    while (*link && std::strcmp((*link)->name_, name) < 0) link = &(*link)->next_;
    next_ = *link;
    *link = this;
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
