// The dtypes and shapes of a batch. With them, another process creates the variables that a model
// needs for such batches.
#pragma once
#include <optional>

#include "crescent/base/value.h"
#include "crescent/data/data.h"
#include "crescent/program/op.h"
#include "program/batch_share.h"

namespace crescent {

struct BatchSpecs {
  TensorSpecs x, y;
  std::vector<std::optional<TensorSpec>> sample_weight;  ///< as in Batch; nullopt: no weights

  explicit BatchSpecs(const Batch& batch);
  /// Reads what encoded() returned.
  explicit BatchSpecs(const Dict& encoded);
  Dict encoded() const;
  /// Sets the number of rows of all tensors.
  void set_rows(int64_t rows);
  /// Returns a batch of tensors without values, whose inputs have only the rows of the share.
  Batch abstract_batch(const Share& share) const;
};

/// Reads a list of specs as encoded() writes them.
TensorSpecs tensor_specs(const Value& encoded);

}  // namespace crescent
