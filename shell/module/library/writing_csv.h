// Tensors as text in columns.
#pragma once
#include <string>
#include <vector>

#include "crescent/io/format.h"

namespace crescent::lua {

/// A tensor of one or two axes, a line for each row. Column names are the first line, if there are
/// any.
void write_matrix(const std::string& path, const Tensor& values,
                  const std::vector<std::string>& columns, const std::string& separator);
/// Tensors of one axis as columns, in the order of the names in `columns`, or of their own names.
void write_table(const std::string& path, const NamedTensors& table,
                 std::vector<std::string> columns, const std::string& separator);

}  // namespace crescent::lua
