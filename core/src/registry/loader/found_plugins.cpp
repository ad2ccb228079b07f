#include "registry/loader/found_plugins.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>

#include "registry/elf/elf_tables.h"
#include "registry/files/lua_plugin.h"
#include "registry/files/plugin_path.h"
#include "registry/files/plugin_stamp.h"
#include "registry/trial/trial_server.h"

namespace crescent {
namespace fs = std::filesystem;

struct FoundPlugins::Candidate {
  std::string path;
  FileState state;
  std::string distrust_reason;
};

namespace {

constexpr const char* kCoreName = "core";  // the plugin name of the classes in libcrescent

using FoundTable = NameTable<std::shared_ptr<const IndexedPlugin>>;

std::string description_of(const IndexedPlugin& plugin) {
  return concat("plugin '", plugin.name, "' (", plugin.path, ")");
}

void read_library_file(const std::string& path, TriedLibrary& library) {
  const ElfFile file(path);
  const PluginInfo stamp = read_stamp(file);
  library.plugin.name = stamp.name, library.plugin.version = stamp.version;
  library.refusal_reason = mismatch(stamp);
  check_tables(file);
}

void read_lua_file(const std::string& path, TriedLibrary& library) {
  if (const auto lua_plugin = read_lua_plugin(path))
    library.plugin = lua_plugin->plugin, library.refusal_reason = lua_plugin->refusal_reason;
}

/// Describes a plugin by its file alone, without running code of it. If `refusal_reason` of the
/// result is empty, the library may be loaded in a trial (in a child process, which shows whether
/// it crashes).
TriedLibrary library_of_file(const std::string& path, const FileState& state) {
  TriedLibrary library{state, {path, fs::path(path).stem().string(), "", {}}, ""};
  try {
    is_lua(path) ? read_lua_file(path, library) : read_library_file(path, library);
  } catch (const Error& error) {
    library.refusal_reason = error.what();
  }
  return library;
}

/// Stores the outcome of a trial, in which a child process loaded the library and wrote a report.
/// If the report is invalid, the library is refused, because its code may have written to the file
/// descriptor of the report.
void store_outcome(const TrialOutcome& outcome, TriedLibrary& library) try {
  library.refusal_reason = outcome.failure;
  if (!outcome.failure.empty()) return;
  const Value report = parse_json(outcome.report);
  if (const Value* reason = report.as_dict().find("refused")) {
    library.refusal_reason = reason->as_string();
    return;
  }
  const std::string folder = fs::path(library.plugin.path).parent_path().string();
  library.plugin.classes = plugin_of_entry(report.as_dict(), folder).classes;
  for (const IndexedClass& c : library.plugin.classes)
    if (!c.traits.empty()) parse_json(c.traits).as_dict();
} catch (const std::exception& error) {
  library.refusal_reason = concat("its trial gave no list of classes: ", error.what());
}

void run_trials(const std::vector<TriedLibrary*>& libraries) {
  std::vector<std::string> paths;
  for (const TriedLibrary* library : libraries) paths.push_back(library->plugin.path);
  const std::vector<TrialOutcome> outcomes = try_each(paths);
  for (size_t i = 0; i < outcomes.size(); ++i) store_outcome(outcomes[i], *libraries[i]);
}

/// Returns a message about a class of the plugin whose name another class already has; empty if
/// there is none.
std::string name_clash_of(const IndexedPlugin& plugin,
                          const FoundPlugins::BuiltInClasses& built_in_classes,
                          const FoundTable& found_classes) {
  for (const IndexedClass& c : plugin.classes) {
    std::vector<std::string> class_names = c.aliases;
    class_names.insert(class_names.begin(), c.name);
    for (const std::string& class_name : class_names) {
      const auto* built_in_entry = built_in_classes.find_exact(c.kind, class_name);
      const auto* found_entry = found_classes.find_exact(c.kind, class_name);
      if (built_in_entry || found_entry)
        return concat(c.kind, " '", class_name, "' is there already, from ",
                      description_of(built_in_entry ? **built_in_entry : **found_entry));
    }
  }
  return "";
}

std::string name_refusal(const std::string& name,
                         const std::vector<IndexedPlugin>& built_in_plugins) {
  const bool is_taken =
      name == kCoreName || std::any_of(built_in_plugins.begin(), built_in_plugins.end(),
                                       [&](auto& plugin) { return plugin.name == name; });
  return is_taken ? concat("'", name, "' is the name of a built-in plugin") : "";
}

/// Whether all folders were last modified more than a second ago. If so, any later change shows in
/// their modification times, which have a resolution of about a second.
bool are_settled(const std::vector<std::pair<std::string, FileState>>& folders) {
  const int64_t now = std::time(nullptr);
  return std::all_of(folders.begin(), folders.end(),
                     [&](const auto& folder) { return folder.second.seconds + 1 < now; });
}

}  // namespace

void check_plugin_name(const std::string& name,
                       const std::vector<IndexedPlugin>& built_in_plugins) {
  if (const std::string reason = name_refusal(name, built_in_plugins); !reason.empty())
    fail(reason);
}

/// Lists the files on the search path that may be plugins. A file that has several names is listed
/// once.
std::vector<FoundPlugins::Candidate> FoundPlugins::candidates() {
  std::vector<Candidate> candidates;
  std::set<std::pair<uint64_t, uint64_t>> file_ids;
  for (const std::string& directory : search_directories()) {
    const std::vector<std::string> plugins = plugins_in(directory);
    const std::string exclusion_reason = plugins.empty() ? "" : reason_not_trusted(directory);
    for (const std::string& path : plugins) {
      const FileState state = state_of(path);
      if (!file_ids.emplace(state.device, state.inode).second) continue;
      candidates.push_back(
          {path, state, exclusion_reason.empty() ? reason_not_trusted(path) : exclusion_reason});
    }
  }
  return candidates;
}

void FoundPlugins::search(const std::vector<IndexedPlugin>& built_in_plugins,
                          const BuiltInClasses& built_in_classes, bool may_run_trials) {
  Folders folders;
  for (std::string& directory : search_directories()) {
    FileState state = state_of(directory);
    folders.emplace_back(std::move(directory), state);
  }
  if (has_searched_ && folders == folders_ && (is_complete_ || !may_run_trials)) return;
  const std::vector<Candidate> libraries = candidates();
  if (const std::string cache = trial_cache_path(); !libraries.empty() && cache_path_ != cache)
    tried_libraries_ = read_trial_cache(), cache_path_ = cache;
  is_complete_ = try_libraries(libraries, may_run_trials);
  accept_or_refuse(libraries, built_in_plugins, built_in_classes);
  has_searched_ = are_settled(folders);
  folders_ = std::move(folders);
}

/// Runs trials of the trusted libraries that are not known yet, if `may_run_trials` is true.
/// Returns whether all libraries are known afterwards.
bool FoundPlugins::try_libraries(const std::vector<Candidate>& candidates, bool may_run_trials) {
  std::vector<TriedLibrary*> remaining_libraries;
  bool has_new_results = false;
  for (const Candidate& candidate : candidates) {
    const auto tried_entry = tried_libraries_.find(candidate.path);
    if (tried_entry != tried_libraries_.end() && tried_entry->second.state == candidate.state)
      continue;
    TriedLibrary library = library_of_file(candidate.path, candidate.state);
    if (!candidate.distrust_reason.empty()) continue;
    const bool may_run = library.refusal_reason.empty() && !is_lua(candidate.path);
    if (may_run && !may_run_trials) return false;
    TriedLibrary& library_entry = tried_libraries_[candidate.path] = std::move(library);
    has_new_results = true;
    if (may_run) remaining_libraries.push_back(&library_entry);
  }
  run_trials(remaining_libraries);
  if (has_new_results) write_trial_cache(tried_libraries_);
  return true;
}

/// Refuses the candidates whose plugin name or class names are taken, and makes the table of the
/// classes of all others.
void FoundPlugins::accept_or_refuse(const std::vector<Candidate>& candidates,
                                    const std::vector<IndexedPlugin>& built_in_plugins,
                                    const BuiltInClasses& built_in_classes) {
  plugins_.clear();
  auto table = std::make_shared<FoundTable>();
  std::map<std::string, std::string> paths_by_name;
  for (const Candidate& candidate : candidates) {
    const auto tried_entry = tried_libraries_.find(candidate.path);
    const bool is_known =
        tried_entry != tried_libraries_.end() && tried_entry->second.state == candidate.state;
    const TriedLibrary library =
        is_known ? tried_entry->second : library_of_file(candidate.path, candidate.state);
    std::string refusal_reason =
        candidate.distrust_reason.empty() ? library.refusal_reason : candidate.distrust_reason;
    auto plugin = std::make_shared<const IndexedPlugin>(library.plugin);
    if (refusal_reason.empty()) refusal_reason = name_refusal(plugin->name, built_in_plugins);
    if (refusal_reason.empty() && !paths_by_name.emplace(plugin->name, plugin->path).second)
      refusal_reason = concat("'", plugin->name, "' is the name of ", paths_by_name[plugin->name]);
    if (refusal_reason.empty()) refusal_reason = name_clash_of(*plugin, built_in_classes, *table);
    if (refusal_reason.empty())
      for (const IndexedClass& c : plugin->classes) table->add(c.kind, c.name, c.aliases, plugin);
    plugins_.push_back({std::move(plugin), std::move(refusal_reason)});
  }
  classes_ = std::move(table);
}

}  // namespace crescent
