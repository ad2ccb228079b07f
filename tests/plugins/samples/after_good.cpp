// A plugin that uses a class of the plugin "good" without declaring that it depends on this plugin.
#include "sample.h"

CRESCENT_PLUGIN("after_good", "1.0.0") {
  if (crescent::registry().find("regularizer", "Welcome")->plugin == "good")
    registry.add<Sample>("AfterGood");
}
