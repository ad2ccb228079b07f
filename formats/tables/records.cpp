#include "records.h"

#include <unistd.h>
#include <zlib.h>

#include "crescent/base/error.h"
#include "crescent/system/file.h"
#include "crescent/system/interrupt.h"

namespace crescent::tables {

/// An open file, which is decompressed while it is read if it is compressed with gzip.
struct RecordReader::File {
  explicit File(const std::string& path) {
    const int descriptor = open_regular_file(path);
    file = gzdopen(descriptor, "rb");
    if (!file) {
      ::close(descriptor);
      fail("not enough memory to read '", path, "'");
    }
  }
  ~File() { gzclose(file); }
  File(const File&) = delete;
  gzFile file;
};

RecordReader::RecordReader(const std::string& path, const std::string& separator,
                           const std::string& quote)
    : path_(path) {
  if (separator.size() != 1)
    fail("'", path, "': expected one character as separator, got '", separator, "'");
  if (quote.size() > 1 || quote == separator)
    fail("'", path, "': expected one character, not the separator, as quote, got '", quote, "'");
  separator_ = static_cast<unsigned char>(separator[0]);
  quote_ = quote.empty() ? kEndOfFile - 1 : static_cast<unsigned char>(quote[0]);
  file_ = std::make_shared<File>(path);
  refill();
  if (buffer_.starts_with("\xef\xbb\xbf")) buffer_index_ = 3;
}

void RecordReader::refill() {
  constexpr unsigned kBufferBytes = 256 << 10;
  if (interrupted()) throw Interrupted("reading '" + path_ + "' was interrupted");
  buffer_.resize(kBufferBytes);
  buffer_index_ = 0;
  const int count = gzread(file_->file, buffer_.data(), kBufferBytes);
  int error = Z_OK;
  const char* text = gzerror(file_->file, &error);
  if (count < 0 || error == Z_BUF_ERROR) fail("cannot read '", path_, "': ", text);
  buffer_.resize(count);
}

int RecordReader::peek() {
  if (buffer_index_ == buffer_.size() && !buffer_.empty()) refill();
  return buffer_index_ < buffer_.size() ? static_cast<unsigned char>(buffer_[buffer_index_])
                                        : kEndOfFile;
}

int RecordReader::read_char() {
  const int c = peek();
  if (c != kEndOfFile) ++buffer_index_;
  return c;
}

bool RecordReader::next(Record& record) {
  while (peek() == '\n' || peek() == '\r') skip_line_end();
  if (peek() == kEndOfFile) return false;
  start_line_ = line_;
  record.clear();
  for (;;) {
    record.push_back(read_field());
    if (peek() != separator_) break;
    read_char();
  }
  if (peek() != kEndOfFile) skip_line_end();
  if (field_count_ == 0) field_count_ = record.size();
  if (record.size() != field_count_)
    fail("'", path_, "' line ", start_line_, ": expected ", field_count_, " columns, got ",
         record.size());
  return true;
}

std::string RecordReader::read_field() {
  if (peek() == quote_) return read_quoted_field();
  std::string text;
  while (!ends_field(peek())) {
    text += static_cast<char>(read_char());
    check_length(text);
  }
  const size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string RecordReader::read_quoted_field() {
  const int64_t first_line = line_;
  std::string text;
  for (read_char();;) {
    const int c = read_char();
    if (c == kEndOfFile) fail("'", path_, "' line ", first_line, ": a quoted field does not end");
    if (c == '\n') ++line_;
    if (c == quote_ && peek() != quote_) break;
    if (c == quote_) read_char();
    text += static_cast<char>(c);
    check_length(text);
  }
  while (peek() == ' ' && separator_ != ' ') read_char();
  if (!ends_field(peek()))
    fail("'", path_, "' line ", line_, ": expected a separator after a quoted field");
  return text;
}

/// Fails for a field that is too long, probably because a closing quote is missing.
void RecordReader::check_length(const std::string& field) const {
  constexpr size_t kMaxFieldBytes = size_t{16} << 20;
  if (field.size() > kMaxFieldBytes)
    fail("'", path_, "' line ", start_line_, ": a field of more than ", kMaxFieldBytes >> 20,
         " MiB");
}

void RecordReader::skip_line_end() {
  if (read_char() == '\r' && peek() == '\n') read_char();
  ++line_;
}

}  // namespace crescent::tables
