// Libraries damaged in every part: the process that loads them goes on.
#include <elf.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <random>

#include "registry/loader/elf_file.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;
using Catch::Contains;

namespace {

using Part = std::pair<size_t, size_t>;  // first byte, bytes

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

template <class T>
T& at(std::string& bytes, size_t offset) {
  return *reinterpret_cast<T*>(bytes.data() + offset);
}

/// The whole file, its headers, and each section: tables are small beside code and would seldom be
/// hit.
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

/// Changes the file and says what the check of its addresses says.
std::string complaint(std::string bytes, void (*change)(std::string&)) {
  const Folder folder;
  change(bytes);
  write(folder / "changed.so", bytes);
  try {
    ElfFile(folder / "changed.so").check_addresses();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Elf64_Phdr& segment(std::string& bytes, Elf64_Word type) {
  const auto& header = at<Elf64_Ehdr>(bytes, 0);
  for (size_t i = 0; i < header.e_phnum; ++i)
    if (auto& found = at<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
        found.p_type == type)
      return found;
  throw std::runtime_error("no such segment");
}

Elf64_Dyn& entry(std::string& bytes, Elf64_Sxword tag) {
  for (size_t offset = segment(bytes, PT_DYNAMIC).p_offset;; offset += sizeof(Elf64_Dyn))
    if (auto& found = at<Elf64_Dyn>(bytes, offset); found.d_tag == tag) return found;
}

}  // namespace

TEST_CASE("A library is checked before the system's loader trusts it") {
  const std::string bytes = bytes_of(library("good"));
  CHECK(complaint(bytes, [](std::string&) {}) == "");
  using Change = void (*)(std::string&);
  const Change changes[] = {
      [](std::string& b) { segment(b, PT_LOAD).p_memsz = 1; },
      [](std::string& b) { segment(b, PT_LOAD).p_vaddr = ~0ull; },
      [](std::string& b) { segment(b, PT_DYNAMIC).p_type = PT_NULL; },
      [](std::string& b) { segment(b, PT_DYNAMIC).p_vaddr += 1ull << 40; },
      [](std::string& b) { segment(b, PT_GNU_RELRO).p_memsz = 1 << 28; },
      [](std::string& b) { segment(b, PT_GNU_EH_FRAME).p_vaddr = 1ull << 40; },
      [](std::string& b) { entry(b, DT_STRTAB).d_un.d_val += 1ull << 32; },
      [](std::string& b) { entry(b, DT_STRSZ).d_un.d_val = 1ull << 32; },
      [](std::string& b) { entry(b, DT_NEEDED).d_un.d_val = 1ull << 32; },
      [](std::string& b) { entry(b, DT_SYMTAB).d_tag = DT_DEBUG; },
      [](std::string& b) { entry(b, DT_RELASZ).d_un.d_val = 1ull << 32; },
      [](std::string& b) { entry(b, DT_RELAENT).d_un.d_val = 16; },
      [](std::string& b) { entry(b, DT_INIT_ARRAYSZ).d_un.d_val = 1ull << 32; },
      [](std::string& b) { entry(b, DT_FINI).d_un.d_val = 1ull << 40; },
      [](std::string& b) { segment(b, PT_DYNAMIC).p_filesz = 4 * sizeof(Elf64_Dyn); },
      [](std::string& b) { at<Elf64_Rela>(b, entry(b, DT_RELA).d_un.d_val).r_offset = 8; },
      [](std::string& b) {
        at<Elf64_Rela>(b, entry(b, DT_RELA).d_un.d_val).r_info |= 0xfffffffull << 32;
      }};
  for (const Change& change : changes) {
    INFO("change " << &change - changes);
    CHECK_THAT(complaint(bytes, change), Contains("damaged"));
  }
}

TEST_CASE("Any damaged library is refused, or does no harm") {
  const Folder folder;
  std::string good = bytes_of(library("good"));
  const std::vector<Part> parts = parts_of(good);
  std::mt19937 random(11);
  const char extremes[] = {0, 1, '\x7F', '\x80', '\xFF'};
  int refused = 0;
  constexpr int kFiles = 240;
  for (int i = 0; i < kFiles; ++i) {
    const auto [start, length] = parts[static_cast<size_t>(i) % parts.size()];
    std::string bytes = good;
    for (size_t hits = 1 + random() % 4; hits > 0; --hits) {
      const size_t first = random() % length,
                   count = std::min<size_t>(length - first, 1 + random() % 8);
      for (size_t k = 0; k < count; ++k)
        bytes[start + first + k] =
            random() % 2 ? extremes[random() % 5] : static_cast<char>(random());
    }
    const std::string path = folder / ("damaged_" + std::to_string(i) + ".so");
    write(path, bytes);
    const std::string message = refusal(path);
    INFO(path << ": " << message);
    CHECK((message.empty() || message.find(path) != std::string::npos));
    refused += !message.empty();
  }
  CHECK(refused > kFiles / 2);
}
