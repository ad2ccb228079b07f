#include "keras/vocabulary/formulas.h"

#include <algorithm>

#include "crescent/base/mapped.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// An option that only chooses between the formulas of Keras' generations, so that no version of
/// Keras has it, or Keras 3 alone has it (`exists_in_keras3`).
struct FormulaOption {
  const char *class_name, *option;
  bool exists_in_keras3 = false;
};
constexpr FormulaOption kFormulaOptions[] = {{"RMSprop", "epsilon_outside"},
                                             {"Adagrad", "epsilon_outside"},
                                             {"Adagrad", "initial_accumulator_value", true},
                                             {"ActivityRegularization", "whole_batch"},
                                             {"Concatenate", "mask_all"},
                                             {"Add", "mask_all"},
                                             {"Subtract", "mask_all"},
                                             {"Average", "mask_all"},
                                             {"Multiply", "mask_all"},
                                             {"Maximum", "mask_all"},
                                             {"Minimum", "mask_all"},
                                             {"BatchNormalization", "moving_variance_ddof"},
                                             {"BatchNormalization", "batch_when_frozen"},
                                             {"BatchNormalization", "count_masked"}};

struct FormulaName {
  const char *option_or_kind, *crescent, *keras;
};
constexpr FormulaName kFormulaNames[] = {{"activation", "hard_sigmoid_keras2", "hard_sigmoid"},
                                         {"interpolation", "bilinear_keras2", "bilinear"}};

}  // namespace

bool chooses_formula(const std::string& class_name, const std::string& option, bool keras3) {
  if (option == kMaskWithStates) return true;
  return std::any_of(std::begin(kFormulaOptions), std::end(kFormulaOptions),
                     [&](const FormulaOption& row) {
                       return class_name == row.class_name && option == row.option &&
                              !(keras3 && row.exists_in_keras3);
                     });
}

Value keras_name(const std::string& option_or_kind, const Value& name) {
  for (const FormulaName& row : kFormulaNames)
    if (option_or_kind == row.option_or_kind && name == Value(row.crescent)) return row.keras;
  return name;
}

void leave_out_penalty(Value& inner_layer) {
  if (!is_object(inner_layer) || !inner_layer.as_dict().at("config").is_dict()) return;
  Dict& config = inner_layer.as_dict()["config"].as_dict();
  const Value* penalty = config.find(kActivityRegularizer);
  if (!penalty || penalty->is_null()) return;
  config.erase(kActivityRegularizer);
  warn("layer '", name_of_layer(inner_layer.as_dict()),
       "': Keras 3 calls what is in a TimeDistributed ", "without ", kActivityRegularizer,
       ", and so do models from its files");
}

namespace {

int64_t largest_number(const Value& value) {
  if (value.is_int()) return value.as_int();
  int64_t result = 0;
  for (const Value& item : value.is_list() ? value.as_list() : List())
    result = std::max(result, largest_number(item));
  return result;
}

bool all_odd(const Value& value) {
  if (value.is_int()) return value.as_int() % 2 != 0;
  return !value.is_list() || std::all_of(value.as_list().begin(), value.as_list().end(), all_odd);
}

/// Whether padding "same" gives the same result on Theano as on TensorFlow. Theano pads half a
/// window on each side; TensorFlow distributes the elements that the last window lacks over both
/// sides.
bool pads_same_on_theano(const Dict& config) {
  const Value *kernel_size = config.find("kernel_size"), *pool_size = config.find("pool_size");
  const Value size = kernel_size ? *kernel_size
                     : pool_size ? *pool_size
                                 : Value(1),
              *strides = config.find("strides");
  const int64_t step = strides && !strides->is_null() ? largest_number(*strides)
                       : pool_size                    ? largest_number(size)
                                                      : 1;
  const bool is_centered = all_odd(size) && step == 1 && !(pool_size && largest_number(size) > 3);
  return largest_number(size) == 1 || is_centered;
}

}  // namespace

std::vector<std::string> padded_differently_by_theano(const Value& model) {
  std::vector<std::string> names;
  mapped(model, [&](const Value& object) -> std::optional<Value> {
    if (!is_object(object)) return std::nullopt;
    const Dict config = config_of(object.as_dict());
    const std::string* padding = text_at(config, "padding");
    if (padding && *padding == "same" && !pads_same_on_theano(config))
      names.push_back(name_of_layer(object.as_dict()));
    return std::nullopt;
  });
  return names;
}

}  // namespace crescent::keras
