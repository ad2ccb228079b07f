#include "families.h"

#include "crescent/plugin.h"

CRESCENT_PLUGIN("linalg", CRESCENT_VERSION) {
  using namespace crescent::operations;
  add_eigen(registry);
  add_linear_systems(registry);
  add_spectra(registry);
}
