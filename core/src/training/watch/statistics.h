// Numbers that describe the elements of a tensor.
#pragma once
#include <optional>

#include "crescent/model/inspection.h"

namespace crescent {

/// Statistics of the elements; nullopt for strings and complex numbers.
std::optional<TensorStatistics> statistics_of(const Tensor& tensor);
/// A number in at most nine characters: "-1.23e-05".
std::string short_number(double x);

}  // namespace crescent
