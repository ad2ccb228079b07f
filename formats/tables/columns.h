// The selected columns of a table, each with a name and a type.
#pragma once
#include <optional>

#include "crescent/registry/schema.h"
#include "crescent/tensor/tensor.h"
#include "records.h"

namespace crescent::tables {

struct TableOptions {
  std::string separator = ",", quote = "\"";
  std::optional<bool> header;
  std::vector<std::string> names, columns;
  Dict types, defaults;
  std::vector<std::string> na_values = {"", "NA", "N/A", "NaN", "nan", "null", "?"};
  std::string label;
  static void describe(Schema<TableOptions>& s);
};

/// The type of the fields of a column.
enum class FieldType { float32, float64, int32, int64, boolean, string };

struct Column {
  std::string name;
  size_t index = 0;               ///< the index of the column in a record
  std::optional<FieldType> type;  ///< nullopt until the type is known
  std::optional<Value> fallback;  ///< the value that replaces missing fields
};

/// The selected columns of a file, or of several files with the same columns.
class Columns {
 public:
  /// Selects the columns of a file. `first_record` is its first record: the header with the names
  /// or, if there is no header, values.
  Columns(const std::string& path, const TableOptions& options, const Record& first_record);
  const std::vector<Column>& all() const { return columns_; }
  /// Widens the inferred types of columns so that they can hold the fields of this record.
  void widen_types(const Record& record);
  /// Sets the inferred types; columns without any field get the type string.
  void set_types();
  /// The value of a field: a number, a boolean or a text. Fails, naming file, line, column and
  /// field, for another text.
  Value value(const Column& column, const Record& record, const std::string& path,
              int64_t line) const;

 private:
  struct ColumnStatistics {
    bool has_missing = false;
    std::optional<FieldType> widest;
  };
  bool is_missing(const std::string& field) const;
  TableOptions options_;
  std::vector<Column> columns_;
  std::vector<ColumnStatistics> statistics_;
};

const char* name_of(FieldType type);
/// The values of a column, all of one type, as a tensor.
Value column_values(FieldType type, const std::vector<Value>& values);
/// A single value of a column, as a number (float32, int32), a text, or a tensor (other types).
Value single_value(FieldType type, const Value& value);

}  // namespace crescent::tables
