#include "registry/trial/trial_cache.h"

#include <filesystem>

#include "crescent/registry/stamp.h"
#include "crescent/system/file.h"
#include "crescent/system/user_folder.h"
#include "registry/files/plugin_path.h"
#include "system/installation.h"

namespace crescent {
namespace fs = std::filesystem;
namespace {

Value state_to_value(const FileState& state) {
  return List{std::to_string(state.device), std::to_string(state.inode), state.seconds,
              state.nanoseconds};
}

/// Identifies the build of Crescent that wrote the cache; another build may refuse other libraries.
Value writer_build() {
  return List{CRESCENT_VERSION, CRESCENT_TOOLCHAIN, std::to_string(CRESCENT_HEADERS_HASH),
              state_to_value(state_of(core_library_path()))};
}

Dict to_entry(const TriedLibrary& library) {
  Dict entry = index_entry(library.plugin);
  entry.set("folder", fs::path(library.plugin.path).parent_path().string());
  entry.set("state", state_to_value(library.state));
  entry.set("refused", library.refusal_reason);
  return entry;
}

/// Adds the entry to `libraries` if the file of the library has not changed.
void read_entry(const Dict& entry, TriedLibraries& libraries) {
  TriedLibrary library;
  library.plugin = plugin_of_entry(entry, entry.at("folder").as_string());
  library.state = state_of(library.plugin.path);
  library.refusal_reason = entry.at("refused").as_string();
  if (entry.at("state") == state_to_value(library.state))
    libraries[library.plugin.path] = std::move(library);
}

}  // namespace

std::string trial_cache_path() {
  const std::string folder = user_folder(UserFolder::cache);
  return folder.empty() ? "" : folder + "/plugins.json";
}

TriedLibraries read_trial_cache() {
  TriedLibraries libraries;
  try {
    const std::string path = trial_cache_path();
    if (path.empty() || !fs::exists(path) || !reason_not_trusted(path).empty()) return libraries;
    const Value content = parse_json(read_file(path));
    if (content.as_dict().at("crescent") != writer_build()) return libraries;
    for (const Value& entry : content.as_dict().at("libraries").as_list())
      read_entry(entry.as_dict(), libraries);
  } catch (const std::exception&) {  // a damaged cache counts as empty and is replaced later
    libraries.clear();
  }
  return libraries;
}

void write_trial_cache(const TriedLibraries& libraries) try {
  const std::string path = trial_cache_path();
  if (path.empty()) return;
  List entries;
  for (const auto& [library_path, tried_library] : libraries)
    if (state_of(library_path) == tried_library.state) entries.push_back(to_entry(tried_library));
  fs::create_directories(fs::path(path).parent_path());
  replace_file(path, to_json(Dict{{"crescent", writer_build()}, {"libraries", entries}}) + '\n');
} catch (const std::exception&) {
}

}  // namespace crescent
