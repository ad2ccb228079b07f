// The entries of this session and of others, in a file that people can read: a block's first line
// stands behind "> ", each further one behind ">> ".
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace crescent::editor {

class History {
 public:
  /// An empty path keeps entries in memory alone.
  explicit History(std::string path) : path_(std::move(path)) {}

  /// Reads what sessions have added since the last time.
  void refresh();
  /// Adds an entry, in the file too; an entry like the last one is not added again.
  void add(const std::string& entry);
  const std::vector<std::string>& entries() const { return entries_; }
  /// The youngest entry before `index` that begins with `start`, and is not `start`; or npos.
  size_t find_start(size_t index, const std::string& start) const;
  /// The youngest entry before `index` that contains `text`; or npos.
  size_t find(size_t index, const std::string& text) const;

 private:
  void take(const std::string& text);
  void catch_up(int file);
  void append(const std::string& entry);
  void shorten(int file);

  std::string path_;
  size_t read_ = 0;  // bytes of the file
  std::vector<std::string> entries_;
};

}  // namespace crescent::editor
