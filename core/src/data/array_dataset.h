// Arrays as a dataset, the way fit goes through them.
#pragma once
#include "crescent/data/data.h"
#include "data/arrays.h"

namespace crescent {

/// samples: a new order of all rows each epoch. batches: whole batches change places, the rest
/// stays last (Keras' "batch").
enum class Shuffle { none, samples, batches };

DatasetPtr make_array_dataset(Arrays arrays, int64_t batch_size, Shuffle shuffle,
                              const SeedGenerator* order);

}  // namespace crescent
