// Reading a plugin's stamp, the section of a library that says with which headers and compiler it
// was built. The library may be damaged or no plugin at all. This test program itself contains a
// stamp.
#include "registry/files/plugin_stamp.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "crescent/plugin.h"

CRESCENT_PLUGIN("test.stamp", "0.0.1") {}

using namespace crescent;

namespace {

/// An anonymous file in memory; each case writes it anew.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) { write(0, bytes); }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  void write(size_t at, const std::string& bytes) const {
    if (pwrite(file_, bytes.data(), bytes.size(), at) != static_cast<ssize_t>(bytes.size()))
      fail("cannot write");
  }
  void cut(size_t length) const {
    if (ftruncate(file_, length) != 0) fail("cannot cut");
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_ = memfd_create("library", MFD_CLOEXEC);
};

const std::string& own_bytes() {
  static const std::string bytes = [] {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return bytes;
}

/// The name in the stamp, or the error message.
std::string outcome(const std::string& path) try {
  return read_stamp(ElfFile(path)).name;
} catch (const Error& error) {
  return error.what();
}

}  // namespace

TEST_CASE("A stamp is read from the file") {
  const PluginInfo stamp = read_stamp(ElfFile("/proc/self/exe"));
  CHECK(std::string(stamp.name) == "test.stamp");
  CHECK(std::string(stamp.version) == "0.0.1");
  CHECK(mismatch(stamp) == "");
  CHECK(stamp.setup == nullptr);
}

TEST_CASE("Each difference between stamp and host is reported") {
  PluginInfo stamp = read_stamp(ElfFile("/proc/self/exe"));
  stamp.size += 8;
  CHECK_THAT(mismatch(stamp), Catch::Contains("bytes"));
  stamp = read_stamp(ElfFile("/proc/self/exe")), ++stamp.abi;
  CHECK_THAT(mismatch(stamp),
             Catch::Contains("plugin interface " + std::to_string(CRESCENT_PLUGIN_ABI + 1)) &&
                 Catch::Contains("cmake --build"));
  stamp = read_stamp(ElfFile("/proc/self/exe")), ++stamp.headers;
  CHECK_THAT(mismatch(stamp), Catch::Contains("public headers"));
  stamp = read_stamp(ElfFile("/proc/self/exe")), stamp.toolchain[0] = 'k';
  const std::string own_compiler(CRESCENT_COMPILER), other_compiler = "k" + own_compiler.substr(1);
  CHECK_THAT(mismatch(stamp), Catch::Contains("with '" + other_compiler + "'") &&
                                  Catch::Contains("with '" + own_compiler + "'") &&
                                  !Catch::Contains("rtti"));
  stamp = read_stamp(ElfFile("/proc/self/exe")), stamp.name[0] = 0;
  CHECK_THAT(mismatch(stamp), Catch::Contains("no name"));
}

TEST_CASE("A stamp of another interface is reported, also where it is shorter than ours") {
  std::string bytes = own_bytes();
  const auto stamp = *ElfFile("/proc/self/exe").section(CRESCENT_PLUGIN_SECTION);
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  auto* sections = reinterpret_cast<Elf64_Shdr*>(bytes.data() + header.e_shoff);
  for (size_t i = 0; i < header.e_shnum; ++i)
    if (sections[i].sh_offset == stamp.sh_offset) sections[i].sh_size = sizeof(PluginInfo) - 64;
  CHECK_THAT(outcome(MemoryFile(bytes).path()), Catch::Contains("cut short"));
  reinterpret_cast<PluginInfo*>(bytes.data() + stamp.sh_offset)->abi = 1;
  CHECK_THAT(outcome(MemoryFile(bytes).path()), Catch::Contains("plugin interface 1"));
}

TEST_CASE("A library cut short is refused") {
  const MemoryFile file(own_bytes());
  CHECK(outcome(file.path()) == "test.stamp");
  for (size_t length = own_bytes().size() - 1; length > 0; length = length * 15 / 16) {
    file.cut(length);
    CHECK_THAT(outcome(file.path()), Catch::Contains("not a Crescent plugin"));
  }
}

TEST_CASE("A damaged library is refused or read, whatever was damaged") {
  const std::string& bytes = own_bytes();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const size_t sections = header.e_shnum * sizeof(Elf64_Shdr),
               segments = header.e_phnum * sizeof(Elf64_Phdr);
  const std::pair<size_t, size_t> ranges[] = {
      {0, sizeof header}, {header.e_shoff, sections}, {header.e_phoff, segments}};
  const MemoryFile file(bytes);
  std::mt19937 random(1);
  const char extremes[] = {0, 1, '\x7F', '\x80', '\xFF'};
  for (int i = 0; i < 20'000; ++i) {
    const auto [start, length] = ranges[i % 3];
    const size_t position = start + random() % length;
    const size_t count = 1 + random() % 8;
    file.write(position, std::string(count, extremes[random() % 5]));
    CHECK_FALSE(outcome(file.path()).empty());
    file.write(position, bytes.substr(position, count));
  }
  CHECK(outcome(file.path()) == "test.stamp");
}

TEST_CASE("What is no file is refused") {
  for (const char* path : {"", "/", "/dev/zero", "/nowhere/at/all.so"})
    CHECK_THAT(outcome(path), Catch::StartsWith(concat("'", path, "'")));
}
