// The format "csv": a table as one array. In columns that are not numeric, the distinct texts are
// replaced by numbers in the order of their appearance.
#include <charconv>
#include <cmath>
#include <map>

#include "crescent/base/progress.h"
#include "crescent/io/format.h"
#include "crescent/plugin.h"
#include "typed_tables.h"

namespace crescent::tables {
namespace {

/// Whether the field stands for a missing number: it is empty, "NA" or "?".
bool is_missing(const std::string& text) { return text.empty() || text == "NA" || text == "?"; }

std::optional<float> number_in(const std::string& text) {
  if (is_missing(text)) return NAN;
  const char* first = text.data() + (text[0] == '+');
  double value = 0;
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<float>(value);
}

bool all_numbers(const Record& record) {
  for (const std::string& text : record)
    if (!number_in(text)) return false;
  return true;
}

/// Whether the first record is a header: it contains no number, while the second record contains
/// one.
bool looks_like_header(const std::vector<Record>& records) {
  if (records.size() < 2 || all_numbers(records[0])) return false;
  for (size_t i = 0; i < records[0].size(); ++i)
    if (!is_missing(records[0][i]) && number_in(records[0][i])) return false;
  for (size_t i = 0; i < records[1].size(); ++i)
    if (!is_missing(records[1][i]) && number_in(records[1][i])) return true;
  return false;
}

struct CsvOptions {
  std::string separator = ",";
  std::optional<bool> header;
  static void describe(Schema<CsvOptions>& s) {
    s.field("separator", &CsvOptions::separator, "The character between columns.")
        .field("header", &CsvOptions::header,
               "The first row has names; when not given, one that is not numbers has.");
  }
};

Table read(const std::string& path, const CsvOptions& options) {
  RecordReader reader(path, options.separator, "\"");
  std::vector<Record> records;
  Progress progress(concat("reading '", path, "'"), "row");
  for (Record record; reader.next(record); progress.add()) records.push_back(std::move(record));
  if (records.empty()) fail("'", path, "' holds no rows");
  Table table;
  const bool has_header = options.header.value_or(looks_like_header(records));
  const size_t column_count = records.front().size();
  for (size_t c = 0; c < column_count; ++c)
    table.columns.push_back(has_header ? records.front()[c] : concat("column_", c + 1));
  if (has_header) records.erase(records.begin());
  if (records.empty()) fail("'", path, "' holds a header and no rows");

  table.classes.resize(column_count);
  std::vector<float> values(records.size() * column_count);
  for (size_t c = 0; c < column_count; ++c) {
    bool is_numeric = true;
    for (const Record& record : records) is_numeric = is_numeric && number_in(record[c]);
    std::map<std::string, size_t> class_numbers;
    for (size_t r = 0; r < records.size(); ++r) {
      const std::string& field = records[r][c];
      if (!is_numeric && class_numbers.try_emplace(field, class_numbers.size()).second)
        table.classes[c].push_back(field);
      values[r * column_count + c] =
          is_numeric ? *number_in(field) : static_cast<float>(class_numbers[field]);
    }
  }
  table.values = Tensor::from(
      values, {static_cast<int64_t>(records.size()), static_cast<int64_t>(column_count)});
  return table;
}

}  // namespace

class Csv final : public Format, public ReadsTables {
 public:
  static void describe(Schema<Csv>& s) {
    s.doc("Tables as text, gzipped too.")
        .trait("endings", List{".csv", ".csv.gz"})
        .method("columns", &Csv::columns, "Names of columns, and their arrays by name.")
        .arg("path", "Of the file.")
        .arg("options", "Those of typed tables.")
        .method("rows", &Csv::rows, "The rows, read as they are needed.")
        .arg("paths", "Of files with the same columns.")
        .arg("options", "Those of typed tables.");
  }
  List columns(const std::string& path, const Dict& options) {
    return read_columns(path, table_options(options));
  }
  Value rows(const std::vector<std::string>& paths, const Dict& options) {
    return row_stream(paths, table_options(options));
  }
  const SchemaData& read_table_options() const override {
    return schema_of<CsvOptions>("csv: reading");
  }
  Table read_table(const std::string& path, const Dict& options) override {
    return read(path, read_options<CsvOptions>(read_table_options(), options));
  }

 private:
  static TableOptions table_options(const Dict& options) {
    return read_options<TableOptions>(schema_of<TableOptions>("tables"), options);
  }
};

CRESCENT_PLUGIN("tables", CRESCENT_VERSION) { registry.add<Csv>("csv"); }

}  // namespace crescent::tables
