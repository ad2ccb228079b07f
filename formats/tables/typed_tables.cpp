#include "typed_tables.h"

#include <algorithm>

#include "crescent/base/progress.h"

namespace crescent::tables {
namespace {

/// Reads the records of a file one by one; next() skips the header if the file has one.
class TableReader {
 public:
  TableReader(const std::string& path, const TableOptions& options)
      : path_(path), records_(path_, options.separator, options.quote) {
    if (!records_.next(first_record_)) fail("'", path, "' holds no rows");
    is_first_record_pending_ = !options.header.value_or(options.names.empty());
  }
  const Record& first_record() const { return first_record_; }
  const std::string& path() const { return path_; }
  int64_t line() const { return records_.line(); }
  bool next(Record& record) {
    if (!is_first_record_pending_) return records_.next(record);
    record = first_record_;
    is_first_record_pending_ = false;
    return true;
  }

 private:
  std::string path_;
  RecordReader records_;
  Record first_record_;
  /// Whether next() must still return the first record because it is not a header.
  bool is_first_record_pending_;
};

/// The columns of a file, with types inferred from its first `max_rows` rows.
Columns columns_of(const std::string& path, const TableOptions& options, int64_t max_rows) {
  TableReader reader(path, options);
  Columns columns(path, options, reader.first_record());
  Record record;
  int64_t row_count = 0;
  Progress progress(concat("looking through '", path, "'"), "row");
  for (; row_count < max_rows && reader.next(record); ++row_count, progress.add())
    columns.widen_types(record);
  if (row_count == 0) fail("'", path, "' holds a header and no rows");
  columns.set_types();
  return columns;
}

/// Files with the same columns, and the options for reading them.
struct TableFiles {
  std::vector<std::string> paths;
  TableOptions options;
  Columns columns;
};

class RowCursor final : public Cursor {
 public:
  explicit RowCursor(std::shared_ptr<const TableFiles> files) : files_(std::move(files)) {}

  bool next(Element& element) override {
    if (!next_record()) return false;
    element = {Value()};
    std::vector<DictEntry> features;
    for (const Column& column : files_->columns.all()) {
      Value value = single_value(
          *column.type, files_->columns.value(column, record_, reader_->path(), reader_->line()));
      if (column.name == files_->options.label)
        element.push_back(std::move(value));
      else
        features.push_back({column.name, std::move(value)});
    }
    element[0] = Dict::from(std::move(features));
    return true;
  }
  int64_t pass(int64_t count) override {
    int64_t skipped = 0;
    while (skipped < count && next_record()) ++skipped;
    return skipped;
  }

 private:
  bool next_record() {
    for (;;) {
      if (reader_ && reader_->next(record_)) return true;
      if (next_file_index_ == files_->paths.size()) return false;
      reader_ = std::make_unique<TableReader>(files_->paths[next_file_index_++], files_->options);
      check_same_columns(Columns(reader_->path(), files_->options, reader_->first_record()).all());
    }
  }
  void check_same_columns(const std::vector<Column>& columns) const {
    const auto is_same = [](const Column& a, const Column& b) {
      return a.name == b.name && a.index == b.index;
    };
    const std::vector<Column>& expected_columns = files_->columns.all();
    if (!std::equal(expected_columns.begin(), expected_columns.end(), columns.begin(),
                    columns.end(), is_same))
      fail("'", reader_->path(), "': its columns are not those of '", files_->paths.front(), "'");
  }

  std::shared_ptr<const TableFiles> files_;
  size_t next_file_index_ = 0;
  std::unique_ptr<TableReader> reader_;
  Record record_;
};

class RowStream final : public Stream {
 public:
  explicit RowStream(std::shared_ptr<const TableFiles> files) : files_(std::move(files)) {}
  CursorPtr open(uint64_t) override { return std::make_shared<RowCursor>(files_); }

 private:
  std::shared_ptr<const TableFiles> files_;
};

}  // namespace

List read_columns(const std::string& path, const TableOptions& options) {
  const Columns columns = columns_of(path, options, INT64_MAX);
  std::vector<std::vector<Value>> values(columns.all().size());
  TableReader reader(path, options);
  Progress progress(concat("reading '", path, "'"), "row");
  for (Record record; reader.next(record); progress.add())
    for (size_t i = 0; i < values.size(); ++i)
      values[i].push_back(columns.value(columns.all()[i], record, path, reader.line()));
  std::vector<std::string> names;
  std::vector<DictEntry> arrays;
  for (size_t i = 0; i < values.size(); ++i) {
    const Column& column = columns.all()[i];
    names.push_back(column.name);
    arrays.push_back({column.name, column_values(*column.type, values[i])});
  }
  return {Value(names), Dict::from(std::move(arrays))};
}

StreamPtr row_stream(std::vector<std::string> paths, const TableOptions& options) {
  if (paths.empty()) fail("expected at least one file");
  constexpr int64_t kMaxInferenceRows = 1000;
  Columns columns = columns_of(paths.front(), options, kMaxInferenceRows);
  return std::make_shared<RowStream>(std::make_shared<const TableFiles>(
      TableFiles{std::move(paths), options, std::move(columns)}));
}

}  // namespace crescent::tables
