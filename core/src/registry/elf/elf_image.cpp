#include "registry/elf/elf_image.h"

#include <algorithm>
#include <bit>

namespace crescent {

ElfImage::ElfImage(const ElfFile& file) : file_(file) {
  check_loaded_segments();
  for (const Elf64_Phdr& segment : file_.segments()) check_segment(segment);
  read_dynamic();
}

std::optional<uint64_t> ElfImage::dynamic_value(Elf64_Sxword tag) const {
  for (const Elf64_Dyn& entry : dynamic_entries_)
    if (entry.d_tag == tag) return entry.d_un.d_val;
  return std::nullopt;
}

const Elf64_Phdr& ElfImage::segment_of(uint64_t address, uint64_t count, Elf64_Word flags) const {
  for (const Elf64_Phdr& segment : file_.segments())
    if (segment.p_type == PT_LOAD && (segment.p_flags & flags) == flags &&
        contains_range(address, count, segment.p_vaddr, segment.p_memsz))
      return segment;
  refuse_damaged("an address in it");
}

uint64_t ElfImage::offset_of(uint64_t address, uint64_t count) const {
  const Elf64_Phdr& segment = segment_of(address, count);
  if (!contains_range(address, count, segment.p_vaddr, segment.p_filesz))
    refuse_damaged("an address in it");
  return segment.p_offset + (address - segment.p_vaddr);
}

void ElfImage::refuse_damaged(std::string_view damaged_part) const {
  file_.refuse("not a Crescent plugin: the library is damaged: ", damaged_part, " cannot be right");
}

// ---- checks

void ElfImage::check_loaded_segments() const {
  uint64_t end = 0;
  for (const Elf64_Phdr& segment : file_.segments()) {
    if (segment.p_type != PT_LOAD) continue;
    const bool is_valid = segment.p_filesz <= segment.p_memsz && segment.p_vaddr >= end &&
                          segment.p_memsz <= ~segment.p_vaddr &&
                          std::has_single_bit(segment.p_align);
    if (!is_valid) refuse_damaged("its segments");
    end = segment.p_vaddr + segment.p_memsz;
  }
}

/// Checks a segment that is part of a loaded segment. The dynamic linker reads it in memory, or the
/// C++ runtime does when an exception is thrown.
void ElfImage::check_segment(const Elf64_Phdr& segment) const {
  switch (segment.p_type) {
    case PT_DYNAMIC:
    case PT_GNU_EH_FRAME:
    case PT_NOTE:
    case PT_GNU_PROPERTY:
    case PT_PHDR:
      segment_of(segment.p_vaddr, std::max(segment.p_filesz, segment.p_memsz));
      break;
    case PT_TLS:
      segment_of(segment.p_vaddr, segment.p_filesz);
      if (segment.p_filesz > segment.p_memsz || segment.p_align & (segment.p_align - 1))
        refuse_damaged("its segments");
      break;
    // the segment may end later than its contents, because some linkers round its size up to whole
    // pages
    case PT_GNU_RELRO: {
      const Elf64_Phdr& containing_segment = segment_of(segment.p_vaddr, segment.p_filesz);
      const uint64_t available_size = containing_segment.p_memsz + containing_segment.p_align;
      if (!contains_range(segment.p_vaddr, segment.p_memsz, containing_segment.p_vaddr,
                          available_size))
        refuse_damaged("its segments");
    }
  }
}

/// Reads the dynamic section. As in the dynamic linker, the last of several entries with one tag is
/// valid, except for DT_NEEDED.
void ElfImage::read_dynamic() {
  auto is_dynamic = [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; };
  const auto& segments = file_.segments();
  if (std::count_if(segments.begin(), segments.end(), is_dynamic) != 1)
    refuse_damaged("its dynamic section");
  const Elf64_Phdr& segment = *std::find_if(segments.begin(), segments.end(), is_dynamic);
  for (const auto& entry :
       table<Elf64_Dyn>(segment.p_vaddr, segment.p_filesz / sizeof(Elf64_Dyn))) {
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_tag != DT_NEEDED && dynamic_value(entry.d_tag))
      refuse_damaged("its dynamic section");
    dynamic_entries_.push_back(entry);
  }
  refuse_damaged("its dynamic section");
}

}  // namespace crescent
