#include "data/partial_inputs.h"

#include "crescent/data/stream.h"

namespace crescent {

DatasetPtr partial_inputs(const DatasetPtr& data, const NeededRows& needed) {
  if (!data || !needed) return data;
  if (auto partial = std::dynamic_pointer_cast<PartialInputs>(data))
    return partial->with_needed(needed);
  if (const auto stream = std::dynamic_pointer_cast<Stream>(data))
    return partial_inputs(with_names(stream, {}, {}), needed);
  return data;
}

}  // namespace crescent
