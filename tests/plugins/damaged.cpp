// Plugin libraries with damaged bytes in every section: the process that loads them must survive.
#include <elf.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <random>

#include "registry/elf/elf_tables.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;
using Catch::Contains;

namespace {

#if defined(__x86_64__)
constexpr uint64_t kCopy = R_X86_64_COPY;
#elif defined(__aarch64__)
constexpr uint64_t kCopy = R_AARCH64_COPY;
#endif

using Part = std::pair<size_t, size_t>;  // offset and size of a part of the file, in bytes

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

template <class T>
T& at(std::string& bytes, size_t offset) {
  return *reinterpret_cast<T*>(bytes.data() + offset);
}

/// The parts of the file: the whole file, its headers, and each section. Tables are much smaller
/// than code, so that random positions in the whole file would seldom hit them.
std::vector<Part> parts_of(std::string& bytes) {
  const auto& header = at<Elf64_Ehdr>(bytes, 0);
  std::vector<Part> parts{
      {0, bytes.size()}, {0, sizeof header}, {header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)}};
  for (size_t i = 1; i < header.e_shnum; ++i) {
    const auto& section = at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS && section.sh_size > 0)
      parts.push_back({section.sh_offset, section.sh_size});
  }
  return parts;
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Changes the file and returns the error message of the check of its addresses.
std::string error_message(std::string bytes, void (*change)(std::string&)) {
  const Folder folder;
  change(bytes);
  write(folder / "changed.so", bytes);
  try {
    check_tables(ElfFile(folder / "changed.so"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Elf64_Phdr& segment(std::string& bytes, Elf64_Word type) {
  const auto& header = at<Elf64_Ehdr>(bytes, 0);
  for (size_t i = 0; i < header.e_phnum; ++i)
    if (auto& segment_header = at<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
        segment_header.p_type == type)
      return segment_header;
  throw std::runtime_error("no such segment");
}

Elf64_Dyn& dynamic_entry(std::string& bytes, Elf64_Sxword tag) {
  for (size_t offset = segment(bytes, PT_DYNAMIC).p_offset;; offset += sizeof(Elf64_Dyn))
    if (auto& found = at<Elf64_Dyn>(bytes, offset); found.d_tag == tag) return found;
}

/// The first entry of a table to which the dynamic section points. In this segment file offsets
/// equal addresses.
template <class T>
T& table_entry(std::string& bytes, Elf64_Sxword tag, size_t index = 0) {
  return at<T>(bytes, dynamic_entry(bytes, tag).d_un.d_val + index * sizeof(T));
}

/// A symbol that the library defines itself.
Elf64_Sym& symbol_of_library(std::string& bytes) {
  for (size_t i = 1;; ++i)
    if (auto& symbol = table_entry<Elf64_Sym>(bytes, DT_SYMTAB, i); symbol.st_shndx != SHN_UNDEF)
      return symbol;
}

}  // namespace

TEST_CASE("A library is checked before the system's loader trusts it", "[P02]") {
  const std::string bytes = bytes_of(library("good"));
  CHECK(error_message(bytes, [](std::string&) {}) == "");
  using Change = void (*)(std::string&);
  const Change changes[] = {
      [](std::string& b) { segment(b, PT_LOAD).p_memsz = 1; },
      [](std::string& b) { segment(b, PT_LOAD).p_vaddr = ~0ull; },
      [](std::string& b) { segment(b, PT_DYNAMIC).p_type = PT_NULL; },
      [](std::string& b) { segment(b, PT_DYNAMIC).p_vaddr += 1ull << 40; },
      [](std::string& b) { segment(b, PT_GNU_RELRO).p_memsz = 1 << 28; },
      [](std::string& b) { segment(b, PT_GNU_EH_FRAME).p_vaddr = 1ull << 40; },
      [](std::string& b) { dynamic_entry(b, DT_STRTAB).d_un.d_val += 1ull << 32; },
      [](std::string& b) { dynamic_entry(b, DT_STRSZ).d_un.d_val = 1ull << 32; },
      [](std::string& b) { dynamic_entry(b, DT_NEEDED).d_un.d_val = 1ull << 32; },
      [](std::string& b) { dynamic_entry(b, DT_SYMTAB).d_tag = DT_DEBUG; },
      [](std::string& b) { dynamic_entry(b, DT_RELASZ).d_un.d_val = 1ull << 32; },
      [](std::string& b) { dynamic_entry(b, DT_RELAENT).d_un.d_val = 16; },
      [](std::string& b) { dynamic_entry(b, DT_INIT_ARRAYSZ).d_un.d_val = 1ull << 32; },
      [](std::string& b) { dynamic_entry(b, DT_FINI).d_un.d_val = 1ull << 40; },
      [](std::string& b) { segment(b, PT_DYNAMIC).p_filesz = 4 * sizeof(Elf64_Dyn); },
      [](std::string& b) { table_entry<Elf64_Rela>(b, DT_RELA).r_offset = 8; },
      [](std::string& b) { table_entry<Elf64_Rela>(b, DT_RELA).r_info |= 0xfffffffull << 32; },
      [](std::string& b) { table_entry<Elf64_Rela>(b, DT_RELA).r_addend = -1; },
      [](std::string& b) { table_entry<Elf64_Rela>(b, DT_RELA).r_addend = 0; },
      [](std::string& b) { table_entry<Elf64_Rela>(b, DT_JMPREL).r_info = (1ull << 32) + kCopy; },
      [](std::string& b) { segment(b, PT_LOAD).p_align = 3; },
      [](std::string& b) { segment(b, PT_NOTE).p_vaddr = 1ull << 40; },
      [](std::string& b) {
        dynamic_entry(b, DT_FINI).d_un.d_val = dynamic_entry(b, DT_STRTAB).d_un.d_val;
      },
      [](std::string& b) { dynamic_entry(b, DT_RELACOUNT).d_tag = DT_RELA; },
      [](std::string& b) { table_entry<Elf64_Sym>(b, DT_SYMTAB, 1).st_name = 1u << 30; },
      [](std::string& b) { symbol_of_library(b).st_value = 1ull << 40; },
      [](std::string& b) { table_entry<uint32_t>(b, DT_GNU_HASH, 0) = 0; },
      [](std::string& b) { table_entry<uint32_t>(b, DT_GNU_HASH, 0) = 1u << 30; },
      [](std::string& b) { table_entry<uint32_t>(b, DT_GNU_HASH, 2) = 3; },
      [](std::string& b) { table_entry<uint32_t>(b, DT_GNU_HASH, 1) = 1u << 30; },
      [](std::string& b) { table_entry<Elf64_Half>(b, DT_VERSYM, 1) = 0x7fff; },
      [](std::string& b) { table_entry<Elf64_Verneed>(b, DT_VERNEED).vn_file = 1u << 30; },
      [](std::string& b) { table_entry<Elf64_Verneed>(b, DT_VERNEED).vn_aux = 1u << 30; },
      [](std::string& b) { table_entry<Elf64_Verneed>(b, DT_VERNEED).vn_next = 1u << 30; }};
  for (const Change& change : changes) {
    INFO("change " << &change - changes);
    CHECK_THAT(error_message(bytes, change), Contains("damaged"));
  }
}

TEST_CASE("Any damaged library is refused, or does no harm", "[P02]") {
  const Folder folder;
  std::string good_bytes = bytes_of(library("good"));
  const std::vector<Part> parts = parts_of(good_bytes);
  std::mt19937 random(11);
  const char extremes[] = {0, 1, '\x7F', '\x80', '\xFF'};
  int refused_count = 0;
  constexpr int kFiles = 240;
  for (int i = 0; i < kFiles; ++i) {
    const auto [start, length] = parts[static_cast<size_t>(i) % parts.size()];
    std::string bytes = good_bytes;
    for (size_t remaining_changes = 1 + random() % 4; remaining_changes > 0; --remaining_changes) {
      const size_t first_byte = random() % length,
                   count = std::min<size_t>(length - first_byte, 1 + random() % 8);
      for (size_t k = 0; k < count; ++k)
        bytes[start + first_byte + k] =
            random() % 2 ? extremes[random() % 5] : static_cast<char>(random());
    }
    const std::string path = folder / ("damaged_" + std::to_string(i) + ".so");
    write(path, bytes);
    const std::string message = refusal(path);
    INFO(path << ": " << message);
    CHECK((message.empty() || message.find(path) != std::string::npos));
    refused_count += !message.empty();
  }
  CHECK(refused_count > kFiles / 2);
}
