// Depends on the plugin "good" without checking that it is loaded.
#include "sample.h"

CRESCENT_PLUGIN("after_good", "1.0.0") {
  if (crescent::registry().find("regularizer", "Welcome")->plugin == "good")
    registry.add<Sample>("AfterGood");
}
