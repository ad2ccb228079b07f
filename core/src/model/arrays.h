// Arrays that users pass to fit and its kin: counted, checked, weighted, split.
#pragma once
#include "crescent/model.h"

namespace crescent {

/// x, y and weights that belong together; weights: empty, or one an output.
struct Arrays {
  Tensors x, y, weights;
  int64_t samples() const { return x.front().dim(0); }
};

/// Bytes of one sample of an array.
inline size_t row_bytes(const Tensor& array) { return array.bytes() / static_cast<size_t>(array.dim(0)); }
/// Tensors in an option: one, a list, or a dict by name.
Tensors tensors_in(const Value& value, const std::vector<std::string>& names, const char* what);
/// Rows [first, first + count) of all of them.
Arrays rows(const Arrays& arrays, int64_t first, int64_t count);
/// Keras' checks: number of arrays, number of samples, shapes of inputs.
void check_arrays(const Model& model, const Arrays& arrays);
/// sample_weight as one array an output.
Tensors sample_weights(const Model& model, const Tensors& y, const Value& sample_weight);
/// Multiplies the weights of samples by those of their classes.
void weight_classes(const Model& model, Arrays& arrays, const Value& class_weight);

}  // namespace crescent
