// Writes tensors as text in columns.
#pragma once
#include <string>
#include <vector>

#include "crescent/io/format.h"

namespace crescent::lua {

/// Writes a tensor of one or two axes, a line for each row. Column names, if there are any, are the
/// first line.
void write_matrix(const std::string& path, const Tensor& values,
                  const std::vector<std::string>& columns, const std::string& separator);
/// Writes tensors of one axis as columns, in the order of the names in `columns`; if that is empty,
/// in the order of the table.
void write_table(const std::string& path, const NamedTensors& table,
                 std::vector<std::string> columns, const std::string& separator);

}  // namespace crescent::lua
