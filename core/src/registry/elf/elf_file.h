// The file of a shared library, which is read and checked without mapping it.
#pragma once
#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crescent/base/error.h"
#include "crescent/base/export.h"
#include "crescent/system/file.h"
#include "registry/elf/file_state.h"

namespace crescent {

/// Whether the `count` bytes that begin at `begin` lie within the `outer_count` bytes that begin at
/// `outer_begin`.
bool contains_range(uint64_t begin, uint64_t count, uint64_t outer_begin, uint64_t outer_count);

class CRESCENT_API ElfFile {
 public:
  /// Opens a file; fails, naming the path, unless it is a complete library for this machine.
  explicit ElfFile(const std::string& path);

  /// The state of the file when it was opened.
  const FileState& state() const { return state_; }
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  /// Returns the header of the section of this name; nullopt if there is none or it has no
  /// contents.
  std::optional<Elf64_Shdr> section(std::string_view name) const;
  /// Reads bytes of the file; fails for bytes beyond its end.
  void read(uint64_t offset, void* buffer, size_t count) const;
  template <class T>
  std::vector<T> table(uint64_t offset, uint64_t count) const;
  template <class... Pieces>
  [[noreturn]] void refuse(const Pieces&... pieces) const {
    fail("'", path_, "': ", pieces...);
  }

 private:
  void check_header();
  void check_ranges();
  void check_range(uint64_t offset, uint64_t count) const;

  std::string path_;
  Descriptor file_;
  FileState state_;
  uint64_t size_ = 0;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
};

template <class T>
std::vector<T> ElfFile::table(uint64_t offset, uint64_t count) const {
  check_range(offset, count * sizeof(T));
  std::vector<T> entries(count);
  read(offset, entries.data(), count * sizeof(T));
  return entries;
}

}  // namespace crescent
