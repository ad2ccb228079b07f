#include "data/known/dataset_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "crescent/system/file.h"

namespace crescent {
namespace {

namespace fs = std::filesystem;

fs::path datasets_folder() {
  if (const char* home = std::getenv("KERAS_HOME")) return fs::path(home) / "datasets";
  const char* home_folder = std::getenv("HOME");
  return fs::path(home_folder ? home_folder : "/tmp") / ".keras" / "datasets";
}

[[noreturn]] void fail_absent(const DatasetFile& file, const fs::path& path) {
  fail(file.dataset, ": '", path.string(),
       "' is not there, and nothing is downloaded; put Keras' "
       "file there (from ",
       file.origin, "), or set KERAS_HOME to the folder that has datasets/",
       path.filename().string());
}

/// The content of a member of a tar archive.
std::string_view member_of(std::string_view tar, const std::string& name, const std::string& path) {
  constexpr size_t kTarBlockBytes = 512;
  for (size_t offset = 0; offset + kTarBlockBytes <= tar.size() && tar[offset] != '\0';) {
    const std::string_view header = tar.substr(offset, kTarBlockBytes);
    const std::string_view member_name = header.substr(0, std::min<size_t>(100, header.find('\0')));
    size_t size = 0;
    for (const char digit : header.substr(124, 11)) {
      if (digit < '0' || digit > '7') break;
      size = size * 8 + static_cast<size_t>(digit - '0');
    }
    offset += kTarBlockBytes;
    if (size > tar.size() - offset)
      fail("'", path, "' ends inside of '", std::string(member_name), "'");
    if (member_name == name) return tar.substr(offset, size);
    offset += (size + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
  }
  fail("'", path, "' has no member '", name, "'");
}

}  // namespace

std::string path_of(const DatasetFile& file) {
  // the operator / returns file.name itself if it is an absolute path
  const fs::path path = datasets_folder() / file.name;
  if (!fs::exists(path)) fail_absent(file, path);
  return path.string();
}

NamedTensors arrays_of(const DatasetFile& file) { return read_arrays(path_of(file)); }

Tensor array_named(const NamedTensors& arrays, const std::string& name, const DatasetFile& file) {
  for (const auto& [array_name, tensor] : arrays)
    if (array_name == name) return tensor;
  fail(file.dataset, ": '", path_of(file), "' has no array '", name, "'");
}

MemberFiles::MemberFiles(const DatasetFile& folder,
                         const std::vector<std::string>& alternative_names) {
  const fs::path root = datasets_folder();
  std::vector<std::string> names{folder.name};
  names.insert(names.end(), alternative_names.begin(), alternative_names.end());
  for (const std::string& name : names) {
    const fs::path path = root / name;
    if (name.ends_with(".tar.gz") && fs::is_regular_file(path)) {
      archive_ = read_file_unpacked(path.string());
      folder_ = path.string();
      prefix_ = fs::path(folder.name).filename().string() + "/";
      return;
    }
    if (fs::is_directory(path)) {
      folder_ = path.string();
      return;
    }
  }
  fail_absent(folder, root / names.front());
}

std::string MemberFiles::text(const std::string& name) const {
  if (archive_.empty()) return read_file(path(name));
  return std::string(member_of(archive_, prefix_ + name, folder_));
}

}  // namespace crescent
