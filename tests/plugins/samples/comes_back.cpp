// A plugin that calls the loader while it is being loaded.
#include "sample.h"

CRESCENT_PLUGIN("comes_back", "1.0.0") {
  if (crescent::plugin_search_path().empty() || crescent::list_plugins().empty())
    crescent::fail("the loader knows no plugins");
  registry.add<Sample>("ComesBack");
}
