// Collects the elements of one pass over a stream.
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

inline std::vector<Element> elements_of_pass(const StreamPtr& stream, uint64_t epoch = 0) {
  std::vector<Element> all;
  const CursorPtr cursor = stream->open(epoch);
  for (Element element; cursor->next(element);) all.push_back(element);
  return all;
}

inline std::vector<double> numbers_of(const Value& part) {
  return Codec<Tensor>::decode(part).to_vector();
}

}  // namespace crescent
