#include "registry/loader/elf_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "crescent/system/file.h"

namespace crescent {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif

/// Tables that the dynamic section gives by address and, where it says that too, by size.
struct Table {
  Elf64_Sxword address, bytes;
};
constexpr Table kTables[] = {{DT_STRTAB, DT_STRSZ},    {DT_RELA, DT_RELASZ},
                             {DT_JMPREL, DT_PLTRELSZ}, {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                             {DT_SYMTAB, DT_NULL},     {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
                             {DT_HASH, DT_NULL},       {DT_GNU_HASH, DT_NULL},
                             {DT_VERSYM, DT_NULL},     {DT_VERNEED, DT_NULL},
                             {DT_VERDEF, DT_NULL},     {DT_PLTGOT, DT_NULL},
                             {DT_INIT, DT_NULL},       {DT_FINI, DT_NULL}};

/// Entries of the dynamic section that are places in the table of strings.
constexpr Elf64_Sxword kNames[] = {DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH};

bool inside(uint64_t begin, uint64_t count, uint64_t start, uint64_t bytes) {
  return begin >= start && begin - start <= bytes && count <= bytes - (begin - start);
}

}  // namespace

ElfFile::ElfFile(const std::string& path)
    : path_(path), file_(open(system_path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0)
    refuse("cannot open the plugin: ", std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("not a Crescent plugin: not a file");
  size_ = static_cast<uint64_t>(status.st_size);
  check_header();
  check_ranges();
}

std::optional<Elf64_Shdr> ElfFile::section(std::string_view name) const {
  const auto sections = table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum);
  const Elf64_Shdr& names = sections[header_.e_shstrndx];
  std::string text(name.size() + 1, '\0');
  for (const Elf64_Shdr& each : sections) {
    if (each.sh_type != SHT_PROGBITS || !inside(each.sh_name, text.size(), 0, names.sh_size))
      continue;
    if (!inside(names.sh_offset, names.sh_size, 0, size_)) continue;
    read(names.sh_offset + each.sh_name, text.data(), text.size());
    if (text.back() == '\0' && std::string_view(text).substr(0, name.size()) == name) return each;
  }
  return std::nullopt;
}

// ---- what is checked

void ElfFile::check_header() {
  if (size_ < sizeof header_) refuse("not a Crescent plugin: not a shared library");
  header_ = at<Elf64_Ehdr>(0);
  const auto* id = header_.e_ident;
  if (std::memcmp(id, ELFMAG, SELFMAG) != 0) refuse("not a Crescent plugin: not a shared library");
  const bool fits =
      id[EI_CLASS] == ELFCLASS64 && id[EI_DATA] == ELFDATA2LSB && header_.e_machine == kMachine;
  if (!fits) refuse("not a plugin for this machine: the library is of another architecture");
  const bool entries =
      header_.e_shentsize == sizeof(Elf64_Shdr) && header_.e_phentsize == sizeof(Elf64_Phdr);
  if (header_.e_type != ET_DYN || !entries || header_.e_shstrndx >= header_.e_shnum)
    refuse("not a Crescent plugin: not a shared library, or a damaged one");
  check_range(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr));
}

/// A file cut short would be mapped all the same and end the process when touched.
void ElfFile::check_ranges() {
  segments_ = table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum);
  for (const Elf64_Phdr& segment : segments_)
    if (segment.p_type == PT_LOAD) check_range(segment.p_offset, segment.p_filesz);
}

void ElfFile::check_addresses() {
  check_segments();
  read_dynamic();
  check_tables();
  check_relocations(dynamic(DT_RELA).value_or(0), dynamic(DT_RELASZ).value_or(0));
  check_relocations(dynamic(DT_JMPREL).value_or(0), dynamic(DT_PLTRELSZ).value_or(0));
}

void ElfFile::check_segments() const {
  uint64_t end = 0;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD) continue;
    const bool fits = segment.p_filesz <= segment.p_memsz && segment.p_vaddr >= end &&
                      segment.p_memsz <= ~segment.p_vaddr;
    if (!fits) refuse_damaged("its segments");
    end = segment.p_vaddr + segment.p_memsz;
  }
  for (const Elf64_Phdr& segment : segments_) {
    const bool in_memory = segment.p_type == PT_DYNAMIC || segment.p_type == PT_GNU_EH_FRAME ||
                           segment.p_type == PT_TLS;
    if (in_memory) mapped(segment.p_vaddr, segment.p_filesz);
    if (segment.p_type != PT_GNU_RELRO) continue;  // which some linkers round up to whole pages
    const Elf64_Phdr& around = mapped(segment.p_vaddr, segment.p_filesz);
    if (!inside(segment.p_vaddr, segment.p_memsz, around.p_vaddr, around.p_memsz + around.p_align))
      refuse_damaged("its segments");
  }
}

void ElfFile::read_dynamic() {
  auto is_dynamic = [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; };
  if (std::count_if(segments_.begin(), segments_.end(), is_dynamic) != 1)
    refuse_damaged("its dynamic section");
  const Elf64_Phdr& segment = *std::find_if(segments_.begin(), segments_.end(), is_dynamic);
  dynamic_ = table<Elf64_Dyn>(offset_of(segment.p_vaddr, segment.p_filesz),
                              segment.p_filesz / sizeof(Elf64_Dyn));
  auto last = std::find_if(dynamic_.begin(), dynamic_.end(),
                           [](const Elf64_Dyn& entry) { return entry.d_tag == DT_NULL; });
  if (last == dynamic_.end()) refuse_damaged("its dynamic section");
  dynamic_.erase(last, dynamic_.end());
}

void ElfFile::check_tables() const {
  for (const Table& row : kTables)
    if (const auto address = dynamic(row.address))
      mapped(*address, row.bytes == DT_NULL ? 1 : dynamic(row.bytes).value_or(0));
  const uint64_t bytes = dynamic(DT_STRSZ).value_or(0);
  const bool named = bytes > 0 && dynamic(DT_STRTAB) && dynamic(DT_SYMTAB);
  if (!named || at<char>(offset_of(*dynamic(DT_STRTAB), bytes) + bytes - 1) != '\0')
    refuse_damaged("its table of names");
  for (const Elf64_Dyn& entry : dynamic_)
    if (std::find(std::begin(kNames), std::end(kNames), entry.d_tag) != std::end(kNames) &&
        entry.d_un.d_val >= bytes)
      refuse_damaged("its table of names");
  const bool sizes = dynamic(DT_SYMENT).value_or(sizeof(Elf64_Sym)) == sizeof(Elf64_Sym) &&
                     dynamic(DT_RELAENT).value_or(sizeof(Elf64_Rela)) == sizeof(Elf64_Rela) &&
                     dynamic(DT_PLTREL).value_or(DT_RELA) == DT_RELA;
  if (!sizes) refuse_damaged("its dynamic section");
}

/// Each changes eight bytes of a segment that may be written, to do with a symbol whose name is in
/// the table.
void ElfFile::check_relocations(uint64_t address, uint64_t bytes) const {
  if (bytes == 0) return;
  uint64_t symbols = 0;
  for (const auto& each :
       table<Elf64_Rela>(offset_of(address, bytes), bytes / sizeof(Elf64_Rela))) {
    mapped(each.r_offset, sizeof(uint64_t), PF_W);
    symbols = std::max<uint64_t>(symbols, ELF64_R_SYM(each.r_info) + 1);
  }
  const uint64_t place = offset_of(*dynamic(DT_SYMTAB), symbols * sizeof(Elf64_Sym)),
                 names = *dynamic(DT_STRSZ);
  for (const auto& symbol : table<Elf64_Sym>(place, symbols))
    if (symbol.st_name >= names) refuse_damaged("its relocations");
}

// ---- reading

std::optional<uint64_t> ElfFile::dynamic(Elf64_Sxword tag) const {
  for (const Elf64_Dyn& entry : dynamic_)
    if (entry.d_tag == tag) return entry.d_un.d_val;
  return std::nullopt;
}

const Elf64_Phdr& ElfFile::mapped(uint64_t address, uint64_t count, Elf64_Word flags) const {
  for (const Elf64_Phdr& segment : segments_)
    if (segment.p_type == PT_LOAD && (segment.p_flags & flags) == flags &&
        inside(address, count, segment.p_vaddr, segment.p_memsz))
      return segment;
  refuse_damaged("an address in it");
}

uint64_t ElfFile::offset_of(uint64_t address, uint64_t count) const {
  const Elf64_Phdr& segment = mapped(address, count);
  if (!inside(address, count, segment.p_vaddr, segment.p_filesz))
    refuse_damaged("an address in it");
  return segment.p_offset + (address - segment.p_vaddr);
}

void ElfFile::read(uint64_t offset, void* to, size_t count) const {
  check_range(offset, count);
  if (pread(file_, to, count, static_cast<off_t>(offset)) != static_cast<ssize_t>(count))
    refuse("cannot read the plugin");
}

void ElfFile::check_range(uint64_t offset, uint64_t count) const {
  if (!inside(offset, count, 0, size_)) refuse("not a Crescent plugin: the library is cut short");
}

template <class T>
T ElfFile::at(uint64_t offset) const {
  T value;
  read(offset, &value, sizeof value);
  return value;
}

template <class T>
std::vector<T> ElfFile::table(uint64_t offset, uint64_t count) const {
  check_range(offset, count * sizeof(T));
  std::vector<T> entries(count);
  read(offset, entries.data(), count * sizeof(T));
  return entries;
}

void ElfFile::refuse_damaged(std::string_view what) const {
  refuse("not a Crescent plugin: the library is damaged: ", what, " cannot be right");
}

}  // namespace crescent
