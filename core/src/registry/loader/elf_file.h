// A shared library as a file, read and checked without mapping it.
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

namespace crescent {

class CRESCENT_API ElfFile {
 public:
  /// Fails naming the path when the file is no complete library of this machine.
  explicit ElfFile(const std::string& path);

  /// Fails when a table or address that the system's loader will take on trust is not inside of the
  /// library: a damaged one would write into the memory of others.
  void check_addresses();

  /// The section with contents that has this name.
  std::optional<Elf64_Shdr> section(std::string_view name) const;
  /// Bytes of the file; fails when they are beyond its end.
  void read(uint64_t offset, void* to, size_t count) const;
  template <class... Pieces>
  [[noreturn]] void refuse(const Pieces&... pieces) const {
    fail("'", path_, "': ", pieces...);
  }

 private:
  void check_header();
  void check_ranges();
  void check_segments() const;
  void read_dynamic();
  void check_tables() const;
  void check_relocations(uint64_t table, uint64_t bytes) const;

  /// The value of an entry of the dynamic section; nothing when it has none of this tag.
  std::optional<uint64_t> dynamic(Elf64_Sxword tag) const;
  /// The segment that has these addresses, with flags such as PF_W; fails when none has all of
  /// them.
  const Elf64_Phdr& mapped(uint64_t address, uint64_t count, Elf64_Word flags = 0) const;
  /// Where in the file the contents of these addresses are.
  uint64_t offset_of(uint64_t address, uint64_t count) const;
  void check_range(uint64_t offset, uint64_t count) const;
  template <class T>
  T at(uint64_t offset) const;
  template <class T>
  std::vector<T> table(uint64_t offset, uint64_t count) const;
  [[noreturn]] void refuse_damaged(std::string_view what) const;

  std::string path_;
  Descriptor file_;
  uint64_t size_ = 0;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Dyn> dynamic_;
};

}  // namespace crescent
