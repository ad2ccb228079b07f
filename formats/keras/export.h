// What the shared library `crescent_keras` shows to formats, and to tests; everything else in it is
// hidden.
#pragma once
#define CRESCENT_KERAS_API __attribute__((visibility("default")))
