// The families of linear algebra, each a file.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

void add_eigen(Registry& registry);
void add_linear_systems(Registry& registry);
void add_spectra(Registry& registry);

}  // namespace crescent::operations
