#include "registry/plugin_stamp.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "crescent/error.h"
#include "crescent/file.h"
#include "registry/core_classes.h"

namespace crescent {
namespace {

constexpr char kMagic[16] = "crescent-plugin";
constexpr std::string_view kSection = CRESCENT_PLUGIN_SECTION;

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif

class ElfFile {
 public:
  explicit ElfFile(const std::string& path)
      : path_(path), file_(open(system_path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (file_ < 0 || fstat(file_, &status) != 0) refuse("cannot open the plugin: ", std::strerror(errno));
    if (!S_ISREG(status.st_mode)) refuse("not a Crescent plugin: not a file");
    size_ = static_cast<uint64_t>(status.st_size);
    check_header();
    check_segments();
  }
  ~ElfFile() {
    if (file_ >= 0) close(file_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  PluginInfo stamp() const {
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const auto section = entry<Elf64_Shdr>(header_.e_shoff, i);
      if (section.sh_type == SHT_PROGBITS && is_stamp_section(section)) return read_info(section);
    }
    refuse("not a Crescent plugin: no section '", kSection, "'");
  }

 private:
  void check_header() {
    if (size_ < sizeof header_) refuse("not a Crescent plugin: not a shared library");
    header_ = at<Elf64_Ehdr>(0);
    const auto* id = header_.e_ident;
    if (std::memcmp(id, ELFMAG, SELFMAG) != 0) refuse("not a Crescent plugin: not a shared library");
    const bool fits = id[EI_CLASS] == ELFCLASS64 && id[EI_DATA] == ELFDATA2LSB && header_.e_machine == kMachine;
    if (!fits) refuse("not a plugin for this machine: the library is of another architecture");
    const bool entries = header_.e_shentsize == sizeof(Elf64_Shdr) && header_.e_phentsize == sizeof(Elf64_Phdr);
    if (header_.e_type != ET_DYN || !entries || header_.e_shstrndx >= header_.e_shnum)
      refuse("not a Crescent plugin: not a shared library, or a damaged one");
  }

  /// A file cut short would be mapped all the same and end the process when touched.
  void check_segments() {
    for (unsigned i = 0; i < header_.e_phnum; ++i) {
      const auto segment = entry<Elf64_Phdr>(header_.e_phoff, i);
      if (segment.p_type == PT_LOAD) check_range(segment.p_offset, segment.p_filesz);
    }
    check_range(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr));
  }

  bool is_stamp_section(const Elf64_Shdr& section) const {
    const auto names = entry<Elf64_Shdr>(header_.e_shoff, header_.e_shstrndx);
    char name[kSection.size() + 1];
    if (section.sh_name > names.sh_size || names.sh_size - section.sh_name < sizeof name) return false;
    if (names.sh_offset > size_ || size_ - names.sh_offset < names.sh_size) return false;
    read(names.sh_offset + section.sh_name, name, sizeof name);
    return name[kSection.size()] == '\0' && kSection == name;
  }

  PluginInfo read_info(const Elf64_Shdr& section) const {
    PluginInfo info{};
    const uint64_t stamped = offsetof(PluginInfo, setup);      // the loader of the system fills in what follows
    if (section.sh_size < stamped) refuse("not a Crescent plugin: its stamp is cut short");
    read(section.sh_offset, &info, stamped);
    const bool ended = !info.toolchain[sizeof info.toolchain - 1] && !info.name[sizeof info.name - 1] &&
                       !info.version[sizeof info.version - 1];
    if (std::memcmp(info.magic, kMagic, sizeof kMagic) != 0 || !ended) refuse("not a Crescent plugin: its stamp is not one");
    return info;
  }

  template <class T>
  T at(uint64_t offset) const {
    T value;
    read(offset, &value, sizeof value);
    return value;
  }
  template <class T>
  T entry(uint64_t table, unsigned i) const {
    check_range(table, (uint64_t{i} + 1) * sizeof(T));
    return at<T>(table + uint64_t{i} * sizeof(T));
  }
  void read(uint64_t offset, void* to, size_t count) const {
    check_range(offset, count);
    if (pread(file_, to, count, static_cast<off_t>(offset)) != static_cast<ssize_t>(count)) refuse("cannot read the plugin");
  }
  void check_range(uint64_t offset, uint64_t count) const {
    if (offset > size_ || count > size_ - offset) refuse("not a Crescent plugin: the library is cut short");
  }
  template <class... Pieces>
  [[noreturn]] void refuse(const Pieces&... pieces) const {
    fail("'", path_, "': ", pieces...);
  }

  std::string path_;
  int file_ = -1;
  uint64_t size_ = 0;
  Elf64_Ehdr header_{};
};

std::string hexadecimal(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

PluginInfo read_stamp(const std::string& path) { return ElfFile(path).stamp(); }

std::string mismatch(const PluginInfo& stamp) {
  static const std::string kMend = "; build it again against this Crescent: cmake --build build --clean-first";
  const HostStamp host = host_stamp();
  const std::string here = concat("Crescent ", CRESCENT_VERSION);
  if (stamp.abi != CRESCENT_PLUGIN_ABI)
    return concat("it was built for plugin interface ", stamp.abi, ", ", here, " has ", CRESCENT_PLUGIN_ABI, kMend);
  if (stamp.size != sizeof(PluginInfo))
    return concat("its stamp has ", stamp.size, " bytes, that of ", here, " has ", sizeof(PluginInfo), kMend);
  if (std::string_view(stamp.toolchain) != host.toolchain)
    return concat("it was built with '", stamp.toolchain, "', ", here, " with '", host.toolchain, "'", kMend);
  if (stamp.layout != host.layout)
    return concat("the layout of its public types is ", hexadecimal(stamp.layout), ", that of ", here, " is ",
                  hexadecimal(host.layout), ": the headers it saw are of another version", kMend);
  if (!*stamp.name) return "its stamp has no name";
  return "";
}

}  // namespace crescent
