// The history of entries of this and other sessions, stored in a text file: the first line of an
// entry begins with "> ", each further line with ">> ".
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace crescent::editor {

class History {
 public:
  /// If `path` is empty, entries are only kept in memory.
  explicit History(std::string path) : path_(std::move(path)) {}

  /// Reads the entries that other sessions have added to the file since the last call.
  void refresh();
  /// Adds an entry to the list and to the file, unless it equals the last entry.
  void add(const std::string& entry);
  const std::vector<std::string>& entries() const { return entries_; }
  /// The index of the latest entry before `index` that begins with `start` and is longer than it;
  /// npos if there is none.
  size_t find_entry_with_start(size_t index, const std::string& start) const;
  /// The index of the latest entry before `index` that contains `text`; npos if there is none.
  size_t find_entry_with(size_t index, const std::string& text) const;

 private:
  void parse_entries(const std::string& text);
  void read_new_entries(int file);
  void append(const std::string& entry);
  void shorten(int file);

  std::string path_;
  size_t read_offset_ = 0;  // the offset up to which the file has been read
  std::vector<std::string> entries_;
};

}  // namespace crescent::editor
