#include "adapting.h"

#include <algorithm>

#include "crescent/base/progress.h"
#include "crescent/system/interrupt.h"

namespace crescent {
namespace {

bool holds_tensors(const List& list) {
  return !list.empty() && list.front().object_as<BoxedTensor>() != nullptr;
}

/// The inputs of the next batch of a dataset, without targets and weights; null at the end of the
/// dataset.
Value next_input(Dataset& dataset, Batch& batch) {
  if (!dataset.next(batch)) return {};
  if (batch.x.size() != 1)
    fail("adapt: expected a dataset with one input, got ", batch.x.size(), " inputs");
  return Value(std::make_shared<BoxedTensor>(batch.x.front()));
}

}  // namespace

bool is_array(const Value& data) {
  return data.object_as<BoxedTensor>() || (data.is_list() && !holds_tensors(data.as_list()));
}

void each_batch(const Value& data, std::optional<int64_t> steps,
                const std::function<void(const Value& batch)>& learn) {
  if (is_array(data)) {
    if (steps) fail("adapt: `steps` is for datasets, not for arrays");
    return learn(data);
  }
  const auto dataset = data.object_as<Dataset>();
  if (!dataset && !data.is_list())
    fail("adapt: expected a tensor, a list or a dataset (of a function: cr.data.generator(f)), ",
         "got ", data);
  if (dataset) dataset->begin_epoch();
  const int64_t batch_count =
      dataset ? dataset->batches() : static_cast<int64_t>(data.as_list().size());
  Progress progress("adapt", "batch", steps.value_or(std::max<int64_t>(batch_count, 0)));
  Batch batch;
  for (int64_t i = 0; !steps || i < *steps; ++i) {
    heed_interruption("a layer adapted to data");
    Value next_batch;
    if (dataset)
      next_batch = next_input(*dataset, batch);
    else if (i < static_cast<int64_t>(data.as_list().size()))
      next_batch = data.as_list()[i];
    if (next_batch.is_null()) return;
    learn(next_batch);
    progress.add();
  }
}

}  // namespace crescent
