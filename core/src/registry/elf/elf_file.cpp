#include "registry/elf/elf_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "crescent/system/file.h"

namespace crescent {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kElfMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kElfMachine = EM_AARCH64;
#endif

}  // namespace

bool contains_range(uint64_t begin, uint64_t count, uint64_t outer_begin, uint64_t outer_count) {
  return begin >= outer_begin && begin - outer_begin <= outer_count &&
         count <= outer_count - (begin - outer_begin);
}

ElfFile::ElfFile(const std::string& path)
    : path_(path), file_(open(system_path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0)
    refuse("cannot open the plugin: ", std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("not a Crescent plugin: not a file");
  size_ = static_cast<uint64_t>(status.st_size);
  state_ = FileState(status);
  check_header();
  check_ranges();
}

std::optional<Elf64_Shdr> ElfFile::section(std::string_view name) const {
  const auto sections = table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum);
  const Elf64_Shdr& name_section = sections[header_.e_shstrndx];
  std::string section_name(name.size() + 1, '\0');
  for (const Elf64_Shdr& section_header : sections) {
    if (section_header.sh_type != SHT_PROGBITS ||
        !contains_range(section_header.sh_name, section_name.size(), 0, name_section.sh_size))
      continue;
    if (!contains_range(name_section.sh_offset, name_section.sh_size, 0, size_)) continue;
    read(name_section.sh_offset + section_header.sh_name, section_name.data(), section_name.size());
    if (section_name.back() == '\0' &&
        std::string_view(section_name).substr(0, name.size()) == name)
      return section_header;
  }
  return std::nullopt;
}

// ---- checks

void ElfFile::check_header() {
  if (size_ < sizeof header_) refuse("not a Crescent plugin: not a shared library");
  header_ = table<Elf64_Ehdr>(0, 1).front();
  const auto* identification = header_.e_ident;
  if (std::memcmp(identification, ELFMAG, SELFMAG) != 0)
    refuse("not a Crescent plugin: not a shared library");
  const bool is_for_this_machine = identification[EI_CLASS] == ELFCLASS64 &&
                                   identification[EI_DATA] == ELFDATA2LSB &&
                                   header_.e_machine == kElfMachine;
  if (!is_for_this_machine)
    refuse("not a plugin for this machine: the library is of another architecture");
  const bool has_valid_entries =
      header_.e_shentsize == sizeof(Elf64_Shdr) && header_.e_phentsize == sizeof(Elf64_Phdr);
  if (header_.e_type != ET_DYN || !has_valid_entries || header_.e_shstrndx >= header_.e_shnum)
    refuse("not a Crescent plugin: not a shared library, or a damaged one");
  check_range(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr));
}

/// Fails for a truncated file. Such a file could be mapped into memory, but reading the missing
/// bytes there would end the process with SIGBUS.
void ElfFile::check_ranges() {
  segments_ = table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum);
  for (const Elf64_Phdr& segment : segments_)
    if (segment.p_type == PT_LOAD) check_range(segment.p_offset, segment.p_filesz);
}

// ---- reading

void ElfFile::read(uint64_t offset, void* buffer, size_t count) const {
  check_range(offset, count);
  if (pread(file_, buffer, count, static_cast<off_t>(offset)) != static_cast<ssize_t>(count))
    refuse("cannot read the plugin");
}

void ElfFile::check_range(uint64_t offset, uint64_t count) const {
  if (!contains_range(offset, count, 0, size_))
    refuse("not a Crescent plugin: the library is cut short");
}

}  // namespace crescent
