// The dataset that fit makes of arrays.
#pragma once
#include "crescent/data/data.h"
#include "data/arrays.h"

namespace crescent {

/// samples: each epoch has a new order of all rows. batches: each epoch has a new order of whole
/// batches, and a smaller last batch stays last (Keras' "batch").
enum class Shuffle { none, samples, batches };

DatasetPtr make_array_dataset(Arrays arrays, int64_t batch_size, Shuffle shuffle,
                              const SeedGenerator* order);
/// The batches of such a dataset as abstract tensors, -1 rows if not all have the same number;
/// without tensors for other datasets.
Batch batch_spec(const Dataset& data);
/// The rows of the arrays that the last batch has; empty for other datasets, and where arrays in
/// files are read in an order of their own.
std::vector<int64_t> rows_of_last_batch(const Dataset& data);

}  // namespace crescent
