// Tables with a type per column, as named arrays or as a stream of rows.
#pragma once
#include "columns.h"
#include "crescent/data/stream.h"

namespace crescent::tables {

/// Reads a table; returns {names, {name = array}}.
List read_columns(const std::string& path, const TableOptions& options);
/// The stream of the rows of files with the same columns, each row as {name = value}, with its
/// label if there is a label column.
StreamPtr row_stream(std::vector<std::string> paths, const TableOptions& options);

}  // namespace crescent::tables
