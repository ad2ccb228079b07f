// Checks the arrays that users pass to fit, evaluate and predict, counts their samples, and
// computes the weights of samples.
#pragma once
#include "crescent/model/model.h"
#include "data/arrays.h"

namespace crescent {

/// Decodes the tensors in an option: one tensor, a list of tensors, or a dictionary by name.
Tensors tensors_in(const Value& value, const std::vector<std::string>& names,
                   const char* option_name);
/// Checks the number of arrays, the number of samples and the shapes of inputs as Keras does.
void check_inputs(const Model& model, const Tensors& x);
/// Checks inputs like check_inputs(), and also targets and sample weights.
void check_arrays(const Model& model, const Arrays& arrays);
/// Decodes sample_weight to one array per output.
Tensors sample_weights(const Model& model, const Tensors& y, const Value& sample_weight);
/// Checks the arrays like check_arrays() and returns them with decoded sample weights.
Arrays checked_arrays(const Model& model, const Tensors& x, const Tensors& y,
                      const Value& sample_weight);
/// Multiplies the sample weights by the weights of the classes of the samples.
void weight_classes(const Model& model, Arrays& arrays, const Value& class_weight);

}  // namespace crescent
