// Arrays that users pass to fit and its kin: counted, checked, weighted.
#pragma once
#include "crescent/model/model.h"
#include "data/arrays.h"

namespace crescent {

/// Tensors in an option: one, a list, or a dict by name.
Tensors tensors_in(const Value& value, const std::vector<std::string>& names, const char* what);
/// Keras' checks: number of arrays, number of samples, shapes of inputs.
void check_inputs(const Model& model, const Tensors& x);
/// The same, and of targets and weights.
void check_arrays(const Model& model, const Arrays& arrays);
/// sample_weight as one array an output.
Tensors sample_weights(const Model& model, const Tensors& y, const Value& sample_weight);
/// Multiplies the weights of samples by those of their classes.
void weight_classes(const Model& model, Arrays& arrays, const Value& class_weight);

}  // namespace crescent
