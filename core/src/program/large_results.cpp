#include "program/large_results.h"

#include <utility>

namespace crescent {
namespace {
thread_local std::optional<int64_t> current_min_elements;
}  // namespace

LargeResultsAbstract::LargeResultsAbstract(std::optional<int64_t> min_elements)
    : previous_min_elements_(std::exchange(current_min_elements, min_elements)) {}

LargeResultsAbstract::~LargeResultsAbstract() { current_min_elements = previous_min_elements_; }

bool LargeResultsAbstract::includes(const Shape& shape) {
  return current_min_elements && shape.size() >= *current_min_elements;
}

}  // namespace crescent
