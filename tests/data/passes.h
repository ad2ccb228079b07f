// Collects the elements of one pass over a stream.
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

inline std::vector<Element> elements_of_pass(const StreamPtr& stream, uint64_t epoch = 0) {
  std::vector<Element> elements;
  const CursorPtr cursor = stream->open(epoch);
  for (Element element; cursor->next(element);) elements.push_back(element);
  return elements;
}

inline std::vector<double> numbers_of(const Value& component) {
  return Codec<Tensor>::decode(component).to_vector();
}

}  // namespace crescent
