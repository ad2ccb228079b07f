// Datasets that leave out rows of the inputs which this process does not compute, so that processes
// that share batches each read their rows only.
#pragma once
#include <functional>

#include "crescent/data/data.h"

namespace crescent {

/// The rows [first, first + count) of a batch.
struct RowRange {
  int64_t first = 0, count = 0;
  bool contains(int64_t row) const { return row >= first && row < first + count; }
};
/// Returns the rows of which a process needs the inputs, for a batch of `rows` rows.
using NeededRows = std::function<RowRange(int64_t rows)>;

/// A dataset that can leave out rows of the inputs.
class PartialInputs {
 public:
  virtual ~PartialInputs() = default;
  /// A dataset of the same batches with the same state as this one, in which only needed rows of x
  /// are read. The other rows of x contain zeros or values of earlier batches; targets and weights
  /// are whole.
  virtual DatasetPtr with_needed(const NeededRows& needed) = 0;
};

/// Returns with_needed() of the dataset; a dataset that cannot leave out rows is returned
/// unchanged, and so is every dataset if `needed` is empty.
DatasetPtr partial_inputs(const DatasetPtr& data, const NeededRows& needed);

}  // namespace crescent
