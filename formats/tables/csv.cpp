// The format "csv". Tables of text: numbers as they are, other columns as class numbers in order of
// appearance.
#include <charconv>
#include <cmath>
#include <map>

#include "crescent/file.h"
#include "crescent/format.h"
#include "crescent/plugin.h"

namespace crescent::tables {
namespace {

using Record = std::vector<std::string>;

/// Records of a CSV text (RFC 4180): quoted fields may hold separators, quotes ("") and line ends.
class CsvReader {
 public:
  CsvReader(const std::string& path, std::string_view text, char separator)
      : path_(path), text_(text), separator_(separator) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }
  /// False at the end; empty lines are skipped.
  bool next(Record& record) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) skip_line_end();
    if (at_ >= text_.size()) return false;
    start_line_ = line_;
    record.clear();
    do record.push_back(field());
    while (at_ < text_.size() && text_[at_] == separator_ && ++at_);
    if (at_ < text_.size()) skip_line_end();
    return true;
  }
  int64_t line() const { return start_line_; }

 private:
  std::string field() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' &&
           text_[at_] != '\r')
      ++at_;
    return trimmed(text_.substr(start, at_ - start));
  }
  std::string quoted() {
    const int64_t first = line_;
    std::string value;
    for (++at_;;) {
      if (at_ >= text_.size()) fail("'", path_, "' line ", first, ": a quoted field does not end");
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c != '"')
        value += c;
      else if (at_ < text_.size() && text_[at_] == '"')
        value += text_[at_++];
      else
        break;
    }
    while (at_ < text_.size() && text_[at_] == ' ' && separator_ != ' ') ++at_;
    if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r')
      fail("'", path_, "' line ", line_, ": expected a separator after a quoted field");
    return value;
  }
  static std::string trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == text.npos) return "";
    return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
  }
  void skip_line_end() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++line_;
  }

  const std::string& path_;
  std::string_view text_;
  char separator_;
  size_t at_ = 0;
  int64_t line_ = 1, start_line_ = 1;
};

/// Empty fields and NA are missing numbers.
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

/// A header has no numbers although there is one below it.
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
  if (options.separator.size() != 1)
    fail("'", path, "': expected one character as separator, got '", options.separator, "'");
  const std::string text = read_file_unpacked(path);
  CsvReader reader(path, text, options.separator[0]);
  std::vector<Record> records;
  for (Record record; reader.next(record);) {
    if (!records.empty() && record.size() != records.front().size())
      fail("'", path, "' line ", reader.line(), ": expected ", records.front().size(),
           " columns, got ", record.size());
    records.push_back(std::move(record));
  }
  if (records.empty()) fail("'", path, "' holds no rows");
  Table table;
  const bool header = options.header.value_or(looks_like_header(records));
  const size_t columns = records.front().size();
  for (size_t c = 0; c < columns; ++c)
    table.columns.push_back(header ? records.front()[c] : concat("column_", c + 1));
  if (header) records.erase(records.begin());
  if (records.empty()) fail("'", path, "' holds a header and no rows");

  table.classes.resize(columns);
  std::vector<float> values(records.size() * columns);
  for (size_t c = 0; c < columns; ++c) {
    bool numeric = true;
    for (const Record& record : records) numeric = numeric && number_in(record[c]);
    std::map<std::string, size_t> numbers;
    for (size_t r = 0; r < records.size(); ++r) {
      const std::string& field = records[r][c];
      if (!numeric && numbers.try_emplace(field, numbers.size()).second)
        table.classes[c].push_back(field);
      values[r * columns + c] = numeric ? *number_in(field) : static_cast<float>(numbers[field]);
    }
  }
  table.values =
      Tensor::from(values, {static_cast<int64_t>(records.size()), static_cast<int64_t>(columns)});
  return table;
}

}  // namespace

class Csv final : public Format, public ReadsTables {
 public:
  static void describe(Schema<Csv>& s) {
    s.doc("Tables as text, gzipped too.").trait("endings", List{".csv", ".csv.gz"});
  }
  const SchemaData& read_table_options() const override {
    return schema_of<CsvOptions>("csv: reading");
  }
  Table read_table(const std::string& path, const Dict& options) override {
    return read(path, read_options<CsvOptions>(read_table_options(), options));
  }
};

CRESCENT_PLUGIN("tables", CRESCENT_VERSION) { registry.add<Csv>("csv"); }

}  // namespace crescent::tables
