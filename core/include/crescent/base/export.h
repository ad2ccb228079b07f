// CRESCENT_API marks the symbols that the shared library `crescent` exports to programs and
// plugins; everything else is hidden.
#pragma once
#define CRESCENT_API __attribute__((visibility("default")))

#define CRESCENT_VERSION_MAJOR 0
#define CRESCENT_VERSION_MINOR 2
#define CRESCENT_VERSION_PATCH 0
#define CRESCENT_VERSION "0.2.0"
