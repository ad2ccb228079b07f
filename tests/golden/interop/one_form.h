// Keras 2.3.1 writes some classes as another class with certain options, such as HeNormal as
// VarianceScaling. This file converts both to one form, so that configurations can be compared.
#pragma once
#include "crescent/base/value.h"

namespace crescent::golden {

struct ScaledInitializer {
  const char* name;
  double scale;
  const char *mode, *distribution;
};
inline constexpr ScaledInitializer kScaledInitializers[] = {
    {"GlorotUniform", 1, "fan_avg", "uniform"}, {"GlorotNormal", 1, "fan_avg", "normal"},
    {"HeUniform", 2, "fan_in", "uniform"},      {"HeNormal", 2, "fan_in", "normal"},
    {"LecunUniform", 1, "fan_in", "uniform"},   {"LecunNormal", 1, "fan_in", "normal"}};

/// Converts the class name and configuration of an initializer in kScaledInitializers, or of a
/// regularizer with only one of L1 and L2.
inline void to_one_form(std::string& class_name, Dict& config) {
  for (const ScaledInitializer& initializer : kScaledInitializers) {
    if (class_name != initializer.name) continue;
    config.set("scale", initializer.scale), config.set("mode", initializer.mode);
    config.set("distribution", initializer.distribution);
    class_name = "VarianceScaling";
  }
  if (class_name != "L1" && class_name != "L2") return;
  class_name = "L1L2";
  for (const char* option : {"l1", "l2"})
    if (!config.contains(option)) config.set(option, 0.0);
}

}  // namespace crescent::golden
