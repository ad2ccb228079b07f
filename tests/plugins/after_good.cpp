// Builds on the plugin "good" without asking whether it is there.
#include "sample.h"

CRESCENT_PLUGIN("after_good", "1.0.0") {
  if (crescent::registry().find("regularizer", "Welcome")->plugin == "good")
    registry.add<Sample>("AfterGood");
}
