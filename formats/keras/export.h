// The macro for symbols that the shared library `crescent_keras` exports; all others are hidden.
#pragma once
#define CRESCENT_KERAS_API __attribute__((visibility("default")))
