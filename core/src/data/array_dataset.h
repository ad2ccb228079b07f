// Details of the dataset that fit makes of arrays.
#pragma once
#include "crescent/data/data.h"
#include "data/arrays.h"

namespace crescent {

/// samples: each epoch has a new order of all rows. batches: each epoch has a new order of whole
/// batches, and a smaller last batch stays last (Keras' "batch").
enum class Shuffle { none, samples, batches };

DatasetPtr make_array_dataset(Arrays arrays, int64_t batch_size, Shuffle shuffle,
                              const SeedGenerator* order);
/// The batches of an array dataset as abstract tensors, with -1 rows if not all batches have the
/// same number of rows. Other datasets give a Batch without tensors.
Batch batch_spec(const Dataset& data);
/// The indices of the rows that the last batch of an array dataset contains. Empty for other
/// datasets, and if arrays in files are read in an order of their own.
std::vector<int64_t> rows_of_last_batch(const Dataset& data);

}  // namespace crescent
