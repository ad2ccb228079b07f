// The tables of cr.datasets: mnist, cifar10, imdb, ..., read from the files that Keras stores.
#pragma once
#include <string>
#include <vector>

#include "values/callable.h"

namespace crescent::lua {

struct KnownDataset {
  const char* name;
  std::vector<CallablePtr> functions;
};
const std::vector<KnownDataset>& known_datasets();

}  // namespace crescent::lua
