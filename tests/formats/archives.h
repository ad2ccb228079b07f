// Reads and writes the members of zip archives.
#pragma once
#include <map>

#include "files/zip/archive.h"
#include "files/zip/image.h"
#include "models.h"

namespace crescent::hdf5 {

/// The members of an archive by name.
inline std::map<std::string, std::string> members_of_archive(const std::string& path) {
  const std::string bytes = read_bytes(path);
  const zip::Archive archive(bytes.size(), [&](uint64_t offset, std::span<std::byte> target) {
    std::memcpy(target.data(), bytes.data() + offset, target.size());
  });
  std::map<std::string, std::string> members;
  for (const zip::Member& member : archive.members())
    members[member.name] = archive.text(*archive.find(member.name));
  return members;
}

/// Writes an archive with these members.
inline void pack(const std::string& path, const std::map<std::string, std::string>& members) {
  std::vector<zip::File> files;
  for (const auto& [name, text] : members)
    files.push_back({name, {std::as_bytes(std::span(text))}});
  replace_file(path, zip::Image(files).pieces());
}

}  // namespace crescent::hdf5
