// The memory image of a shared library: reads from the file what the dynamic linker would map at an
// address.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "registry/elf/elf_file.h"

namespace crescent {

class ElfImage {
 public:
  /// Fails if the segments or the dynamic section are invalid.
  explicit ElfImage(const ElfFile& file);

  const std::vector<Elf64_Dyn>& entries() const { return dynamic_entries_; }
  /// Returns the value of the entry of the dynamic section with this tag; nullopt if there is no
  /// such entry.
  std::optional<uint64_t> dynamic_value(Elf64_Sxword tag) const;
  /// Returns the segment with these flags, such as PF_W, that contains all of these addresses;
  /// fails if there is none.
  const Elf64_Phdr& segment_of(uint64_t address, uint64_t count, Elf64_Word flags = 0) const;
  /// Returns the entries of a table at an address; all of them must lie in the file.
  template <class T>
  std::vector<T> table(uint64_t address, uint64_t count) const {
    return file_.table<T>(offset_of(address, count * sizeof(T)), count);
  }
  template <class T>
  T at(uint64_t address) const {
    return table<T>(address, 1).front();
  }
  [[noreturn]] void refuse_damaged(std::string_view damaged_part) const;

 private:
  void check_loaded_segments() const;
  void check_segment(const Elf64_Phdr& segment) const;
  void read_dynamic();
  /// Returns the offset in the file of the bytes that are mapped at these addresses.
  uint64_t offset_of(uint64_t address, uint64_t count) const;

  const ElfFile& file_;
  std::vector<Elf64_Dyn> dynamic_entries_;
};

}  // namespace crescent
