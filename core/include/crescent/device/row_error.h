// An error in one row of the data, for authors of kernels.
#pragma once
#include <cstdint>

#include "crescent/base/error.h"

namespace crescent {

/// Thrown by a kernel for an invalid element of its input, such as a label out of range. The
/// message names the row of the batch; training adds the number of that row in the data set, which
/// is different if the data are shuffled.
class CRESCENT_API RowError final : public DataError {
 public:
  /// `row` is the index along the first axis of the tensor, `rows` that axis's size.
  RowError(std::string_view message, int64_t row, int64_t rows)
      : DataError(message), row_(row), rows_(rows) {}
  ~RowError() override;
  int64_t row() const { return row_; }
  int64_t rows() const { return rows_; }

 private:
  int64_t row_, rows_;
};

}  // namespace crescent
