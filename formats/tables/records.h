// Reads the records of a CSV file (RFC 4180): quoted fields may contain separators, quotes ("") and
// line ends. The file may be compressed with gzip, and may be larger than memory.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace crescent::tables {

using Record = std::vector<std::string>;

class RecordReader {
 public:
  /// `quote` is empty if quotes have no special meaning. `path` must outlive the reader.
  RecordReader(const std::string& path, const std::string& separator, const std::string& quote);
  /// Reads the next record; returns false at the end of the file. Empty lines are skipped. Fails if
  /// the record has another number of fields than the first.
  bool next(Record& record);
  /// The line where the last record begins.
  int64_t line() const { return start_line_; }

 private:
  static constexpr int kEndOfFile = -1;
  int peek();
  int read_char();
  void refill();
  bool ends_field(int c) const {
    return c == separator_ || c == '\n' || c == '\r' || c == kEndOfFile;
  }
  std::string read_field();
  std::string read_quoted_field();
  void skip_line_end();
  void check_length(const std::string& field) const;

  struct File;
  const std::string& path_;
  std::shared_ptr<File> file_;
  int separator_, quote_;
  std::string buffer_;
  size_t buffer_index_ = 0;  ///< the index in the buffer of the next character
  size_t field_count_ = 0;   ///< the number of fields of the first record
  int64_t line_ = 1, start_line_ = 1;
};

}  // namespace crescent::tables
