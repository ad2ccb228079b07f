// What the files of this plugin share.
#pragma once
#include <algorithm>

#include "crescent/layer/training.h"

namespace crescent {

constexpr double kEpsilon = 1e-7;  ///< keras.config.epsilon()

/// Of variables that add up over an epoch: float32 loses a digit with every tenfold of batches, and
/// counts no further than 2^24. Results are float32.
constexpr DType kSums = DType::float64;
inline Tensor as_result(const Tensor& x) { return ops::cast(x, DType::float32); }

/// The options of every metric, at the place that Keras has them: `name` and `dtype`.
template <class T, class Name, class Dtype>
void describe_name(Schema<T>& s, Name name, Dtype dtype) {
  s.field("name", name, "Shown in logs.").field("dtype", dtype, "Of the state.");
}

/// Registers a class; Keras finds metrics by the snake case of their class names too.
template <class T>
void add_metric(Registry& registry, const std::string& name,
                std::vector<std::string> aliases = {}) {
  const std::string other = to_snake_case(name);
  if (std::find(aliases.begin(), aliases.end(), other) == aliases.end()) aliases.push_back(other);
  registry.add<T>(name, std::move(aliases));
}

}  // namespace crescent
