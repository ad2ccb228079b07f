#include "history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "crescent/system/file.h"

namespace crescent::editor {
namespace {

constexpr size_t kMaxBytes = size_t{4} << 20, kShortenedBytes = size_t{1} << 20;

/// Opens the file and locks it against other sessions. If the opened file has no links, another
/// session has replaced it after it was opened; then the function opens the new file instead.
Descriptor open_locked(const std::string& path) {
  for (int try_count = 0; try_count < 10; ++try_count) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600));
    struct stat status;
    if (file < 0 || flock(file, LOCK_EX) != 0 || fstat(file, &status) != 0) break;
    if (!S_ISREG(status.st_mode)) break;
    if (status.st_nlink > 0) return file;
  }
  return Descriptor();
}

/// Reads the file from `offset` to its end, but at most its last kMaxBytes; sets `offset` to the
/// end.
std::string read_from(int file, size_t& offset) {
  const off_t end = lseek(file, 0, SEEK_END);
  if (end < 0) return "";
  const auto size = static_cast<size_t>(end);
  if (size - offset > kMaxBytes) offset = size - kMaxBytes;
  std::string text(size - offset, '\0');
  const ssize_t count = pread(file, text.data(), text.size(), static_cast<off_t>(offset));
  text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  offset += text.size();
  return text;
}

std::string file_text_of(const std::string& entry) {
  std::string text = "> ";
  for (const char c : entry) {
    text += c;
    if (c == '\n') text += ">> ";
  }
  return text + '\n';
}

}  // namespace

/// Appends the entries in `text`, a part of the history file; skips lines that do not have the form
/// of an entry.
void History::parse_entries(const std::string& text) {
  bool is_in_entry = false;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (line.starts_with("> "))
      entries_.emplace_back(line.substr(2));
    else if (is_in_entry && line.starts_with(">> "))
      entries_.back().append("\n").append(line.substr(3));
    is_in_entry = line.starts_with("> ") || (is_in_entry && line.starts_with(">> "));
  }
}

/// Reads the entries that were added to the file since the last call; if another session has
/// shortened the file, reads all of it.
void History::read_new_entries(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return;
  if (static_cast<size_t>(status.st_size) < read_offset_) read_offset_ = 0, entries_.clear();
  parse_entries(read_from(file, read_offset_));
}

void History::refresh() {
  struct stat status;
  if (path_.empty() || stat(path_.c_str(), &status) != 0) return;
  if (static_cast<size_t>(status.st_size) == read_offset_) return;
  if (const Descriptor file = open_locked(path_); file >= 0) read_new_entries(file);
}

/// Keeps only the last entries of a file that has become too long, about kShortenedBytes.
void History::shorten(int file) {
  size_t start = read_offset_ - kShortenedBytes;
  std::string text = read_from(file, start);
  const size_t entry_position = text.find("\n> ");
  if (entry_position == text.npos) return;
  text.erase(0, entry_position + 1);
  try {
    replace_file(path_, text);
    chmod(path_.c_str(), 0600);
    read_offset_ = text.size();
  } catch (const std::exception&) {
    // The file is not shortened; the next append() tries again.
  }
}

void History::append(const std::string& entry) {
  const NoFileSizeSignal no_file_size_signal;
  const Descriptor file = open_locked(path_);
  if (file < 0) return;
  read_new_entries(file);
  const std::string text = file_text_of(entry);
  if (::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    read_offset_ += text.size();
  if (read_offset_ > kMaxBytes) shorten(file);
}

void History::add(const std::string& entry) {
  if (!entries_.empty() && entries_.back() == entry) return;
  if (!path_.empty()) append(entry);
  entries_.push_back(entry);
}

size_t History::find_entry_with_start(size_t index, const std::string& start) const {
  for (index = std::min(index, entries_.size()); index > 0; --index)
    if (entries_[index - 1].starts_with(start) && entries_[index - 1] != start) return index - 1;
  return std::string::npos;
}

size_t History::find_entry_with(size_t index, const std::string& text) const {
  for (index = std::min(index, entries_.size()); index > 0; --index)
    if (entries_[index - 1].find(text) != std::string::npos) return index - 1;
  return std::string::npos;
}

}  // namespace crescent::editor
