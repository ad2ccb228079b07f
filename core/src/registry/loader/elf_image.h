// A shared library as the system's loader maps it: what it finds by address, read from the file.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "registry/loader/elf_file.h"

namespace crescent {

class ElfImage {
 public:
  /// Fails when its segments or its dynamic section cannot be right.
  explicit ElfImage(const ElfFile& file);

  const std::vector<Elf64_Dyn>& entries() const { return dynamic_; }
  /// The value of an entry of the dynamic section; nothing when it has none of this tag.
  std::optional<uint64_t> dynamic(Elf64_Sxword tag) const;
  /// The segment that has these addresses, with flags such as PF_W; fails when none has all of
  /// them.
  const Elf64_Phdr& mapped(uint64_t address, uint64_t count, Elf64_Word flags = 0) const;
  /// The entries at an address, which the file must have.
  template <class T>
  std::vector<T> table(uint64_t address, uint64_t count) const {
    return file_.table<T>(offset_of(address, count * sizeof(T)), count);
  }
  template <class T>
  T at(uint64_t address) const {
    return table<T>(address, 1).front();
  }
  [[noreturn]] void refuse_damaged(std::string_view what) const;

 private:
  void check_loaded() const;
  void check_segment(const Elf64_Phdr& segment) const;
  void read_dynamic();
  /// Where in the file the contents of these addresses are.
  uint64_t offset_of(uint64_t address, uint64_t count) const;

  const ElfFile& file_;
  std::vector<Elf64_Dyn> dynamic_;
};

}  // namespace crescent
