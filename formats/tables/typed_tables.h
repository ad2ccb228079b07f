// Tables with a type for each column: as arrays by name, or as a stream of rows.
#pragma once
#include "columns.h"
#include "crescent/data/stream.h"

namespace crescent::tables {

/// {names, {name = array}}
List read_columns(const std::string& path, const TableOptions& options);
/// Rows {name = value} and, with a label, that; of files that have the same columns.
StreamPtr row_stream(std::vector<std::string> paths, const TableOptions& options);

}  // namespace crescent::tables
