// A dataset whose sample weights are multiplied by class weights.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// `model` must outlive the result.
DatasetPtr class_weighted(const Model& model, DatasetPtr data, const Value& class_weight);

}  // namespace crescent
