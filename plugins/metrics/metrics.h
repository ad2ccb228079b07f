// Code that several metrics use, and the functions by which each file of the plugin registers its
// classes.
#pragma once
#include <algorithm>

#include "crescent/layer/training.h"

namespace crescent {

constexpr double kEpsilon = 1e-7;  ///< the value of keras.config.epsilon()

/// The dtype of variables that are summed over an epoch: a float32 sum would lose a digit whenever
/// the number of batches grows tenfold, and cannot count beyond 2^24. Results are cast to float32.
constexpr DType kSums = DType::float64;
inline Tensor as_result(const Tensor& x) { return ops::cast(x, DType::float32); }

/// Fails if a metric of labels and predictions is called with one tensor.
inline void need_predictions(const Tensor& y_pred) {
  if (!y_pred) fail("missing argument 'y_pred'; called as metric(y_true, y_pred)");
}

/// Adds `name` and `dtype`, the options of all metrics, at their position in Keras.
template <class T, class Name, class Dtype>
void describe_name(Schema<T>& s, Name name, Dtype dtype) {
  s.field("name", name, "Name in the logs.").field("dtype", dtype, "Dtype of the state.");
}

/// Registers a class under its name, and under the name in snake case by which Keras finds metrics,
/// too.
template <class T>
void add_metric(Registry& registry, const std::string& name,
                std::vector<std::string> aliases = {}) {
  const std::string snake_case_name = to_snake_case(name);
  if (std::find(aliases.begin(), aliases.end(), snake_case_name) == aliases.end())
    aliases.push_back(snake_case_name);
  registry.add<T>(name, std::move(aliases));
}

}  // namespace crescent
