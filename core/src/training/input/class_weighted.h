// A dataset whose samples also count by their classes.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// `model` outlives it.
DatasetPtr class_weighted(const Model& model, DatasetPtr data, const Value& class_weight);

}  // namespace crescent
