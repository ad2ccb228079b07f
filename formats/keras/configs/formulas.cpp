#include "keras/configs/formulas.h"

#include <algorithm>

namespace crescent::keras {
namespace {

struct Choice {
  const char *class_name, *option;
  bool keras3_has_it = false;
};
constexpr Choice kChoices[] = {{"RMSprop", "epsilon_outside"},
                               {"Adagrad", "epsilon_outside"},
                               {"Adagrad", "initial_accumulator_value", true},
                               {"ActivityRegularization", "whole_batch"},
                               {"Concatenate", "mask_all"},
                               {"BatchNormalization", "moving_variance_ddof"}};

struct Name {
  const char *where, *here, *keras;
};
constexpr Name kNames[] = {{"activation", "hard_sigmoid_keras2", "hard_sigmoid"},
                           {"interpolation", "bilinear_keras2", "bilinear"}};

}  // namespace

bool chooses_formula(const std::string& class_name, const std::string& option, bool keras3) {
  return std::any_of(std::begin(kChoices), std::end(kChoices), [&](const Choice& row) {
    return class_name == row.class_name && option == row.option && !(keras3 && row.keras3_has_it);
  });
}

Value keras_name(const std::string& where, const Value& name) {
  for (const Name& row : kNames)
    if (where == row.where && name == Value(row.here)) return row.keras;
  return name;
}

}  // namespace crescent::keras
