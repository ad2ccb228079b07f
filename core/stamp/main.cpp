// crescent-stamp FOLDER OUTPUT: writes a header with a hash of the declarations in the headers of
// FOLDER to the file OUTPUT, unless the file has this content already. Headers without declarations
// and the written header itself have no part in the hash, so that it is the same for the folder in
// the source tree and for the installed one.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "declarations.h"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Updates an FNV-1a hash.
void mix(uint64_t& hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
}

uint64_t hash_of(const fs::path& folder) {
  std::map<std::string, fs::path> headers;  // the keys are paths within the folder
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".h")
      headers.emplace(fs::relative(entry.path(), folder).generic_string(), entry.path());
  const std::string empty_header = crescent::stamp::declarations("#pragma once\n");
  uint64_t hash = 0xcbf29ce484222325;
  for (const auto& [name, path] : headers) {
    const std::string declarations = crescent::stamp::declarations(read(path));
    if (name != "headers_hash.h" && declarations != empty_header)
      mix(hash, name + "\n" + declarations);
  }
  return hash;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return std::fputs("usage: crescent-stamp FOLDER OUTPUT\n", stderr), 2;
  char text[256];
  std::snprintf(text, sizeof text,
                "// Written by the build (crescent-stamp): a hash of what the public headers "
                "declare.\n#pragma once\n#define CRESCENT_HEADERS_HASH 0x%016llxull\n",
                static_cast<unsigned long long>(hash_of(arguments[1])));
  if (read(arguments[2]) == text) return 0;
  std::ofstream file(arguments[2]);
  file << text;
  return file.flush() ? 0 : (std::perror(arguments[2]), 1);
}
