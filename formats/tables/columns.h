// Columns of a table, each with a name and a type: which ones are wanted, what their fields are.
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

/// What the fields of a column are.
enum class FieldType { float32, float64, int32, int64, boolean, string };

struct Column {
  std::string name;
  size_t place = 0;               ///< in a record
  std::optional<FieldType> type;  ///< none: not known yet
  std::optional<Value> fallback;  ///< for missing values
};

/// The columns that are wanted of one file, or of several alike.
class Columns {
 public:
  /// Of the file whose first record this is: names, or values where there is no header.
  Columns(const std::string& path, const TableOptions& options, const Record& first);
  const std::vector<Column>& all() const { return columns_; }
  /// Widens the types of columns that have none given, so that this record fits.
  void see(const Record& record);
  /// Afterwards every column has a type: those that were not seen are texts.
  void settle();
  /// A number, a truth value or a text; fails naming file, line, column and field.
  Value value(const Column& column, const Record& record, const std::string& path,
              int64_t line) const;

 private:
  struct ColumnStatistics {
    bool given = false, missing = false;
    std::optional<FieldType> widest;
  };
  bool is_missing(const std::string& field) const;
  TableOptions options_;
  std::vector<Column> columns_;
  std::vector<ColumnStatistics> statistics_;
};

const char* name_of(FieldType type);
/// Values of a column, all of one type, as a tensor.
Value column_values(FieldType type, const std::vector<Value>& values);
/// One value alone: float32 and int32 as numbers, texts, others as tensors.
Value single_value(FieldType type, const Value& value);

}  // namespace crescent::tables
