// An error in one row of the data, for authors of kernels.
#pragma once
#include <cstdint>

#include "crescent/base/error.h"

namespace crescent {

/// Thrown for an element of input data that a kernel rejects, such as a label. Training adds the
/// row of the data, which shuffling has put elsewhere in the batch.
class CRESCENT_API RowError final : public DataError {
 public:
  /// `row` is the place of the element on the first axis of its tensor, `rows` the size of that.
  RowError(std::string_view message, int64_t row, int64_t rows)
      : DataError(message), row_(row), rows_(rows) {}
  ~RowError() override;
  int64_t row() const { return row_; }
  int64_t rows() const { return rows_; }

 private:
  int64_t row_, rows_;
};

}  // namespace crescent
