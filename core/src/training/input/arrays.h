// Counts, checks and weights the arrays that users pass to fit, evaluate and predict.
#pragma once
#include "crescent/model/model.h"
#include "data/arrays.h"

namespace crescent {

/// Decodes the tensors in an option: one, a list, or a dict by name.
Tensors tensors_in(const Value& value, const std::vector<std::string>& names, const char* what);
/// The checks of Keras on inputs: number of arrays, number of samples, shapes.
void check_inputs(const Model& model, const Tensors& x);
/// The same checks, and those of targets and weights.
void check_arrays(const Model& model, const Arrays& arrays);
/// Decodes sample_weight to one array per output.
Tensors sample_weights(const Model& model, const Tensors& y, const Value& sample_weight);
/// The arrays with their decoded weights; all of them are checked.
Arrays checked_arrays(const Model& model, const Tensors& x, const Tensors& y,
                      const Value& sample_weight);
/// Multiplies the sample weights by the weights of the samples' classes.
void weight_classes(const Model& model, Arrays& arrays, const Value& class_weight);

}  // namespace crescent
