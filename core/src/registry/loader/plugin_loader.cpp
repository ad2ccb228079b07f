#include "registry/loader/plugin_loader.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "crescent/system/file.h"
#include "host/late_classes.h"
#include "registry/core_classes.h"
#include "registry/elf/elf_tables.h"
#include "registry/files/lua_plugin.h"
#include "registry/files/plugin_path.h"
#include "registry/files/plugin_stamp.h"
#include "registry/files/plugin_table.h"
#include "registry/loader/kept_state.h"
#include "registry/loader/mapped_plugin.h"
#include "registry/trial/plugin_trial.h"
#include "system/installation.h"

namespace crescent {
namespace fs = std::filesystem;
namespace {

std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path canonical_path = fs::canonical(path, error);
  return error ? path : canonical_path.string();
}

PluginRecord to_record(const PluginInfo& stamp, const std::string& path) {
  PluginRecord record;
  record.name = stamp.name, record.version = stamp.version, record.path = path;
  return record;
}

PluginRecord to_record(const IndexedPlugin& plugin) {
  PluginRecord record;
  record.name = plugin.name, record.version = plugin.version, record.path = plugin.path;
  for (const IndexedClass& c : plugin.classes) record.classes.emplace_back(c.kind, c.name);
  return record;
}

PluginRecord record_of_lua_file(const std::string& path) {
  const auto lua_plugin = read_lua_plugin(path);
  if (!lua_plugin)
    fail("'", path, "' is no plugin: its first line is not like '-- acme.gate 0.1.0: What it is.'");
  PluginRecord record = to_record(lua_plugin->plugin);
  record.refused = lua_plugin->refusal_reason;
  return record;
}

/// Describes a plugin by the contents of its file, without loading it.
PluginRecord record_of_file(const std::string& path) try {
  if (is_lua(path)) return record_of_lua_file(path);
  const PluginInfo stamp = read_stamp(ElfFile(path));
  PluginRecord record = to_record(stamp, path);
  record.refused = mismatch(stamp);
  return record;
} catch (const Error& error) {
  PluginRecord record;
  record.path = path, record.refused = error.what();
  return record;
}

Dict traits_in(const IndexedPlugin& plugin, std::string_view kind, std::string_view name) {
  for (const IndexedClass& c : plugin.classes)
    if (c.name == name && c.kind == kind && !c.traits.empty())
      return parse_json(c.traits).as_dict();
  return {};
}

bool has_class(const IndexedPlugin& plugin, std::string_view kind, std::string_view word) {
  return std::any_of(plugin.classes.begin(), plugin.classes.end(), [&](const IndexedClass& c) {
    const bool is_alias = std::find(c.aliases.begin(), c.aliases.end(), word) != c.aliases.end();
    return c.kind == kind && (c.name == word || is_alias);
  });
}

/// Counts a plugin as being loaded while an object of this class lives.
class LoadingScope {
 public:
  explicit LoadingScope(int& count) : count_(count) { ++count_; }
  ~LoadingScope() { --count_; }
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;

 private:
  int& count_;
};

}  // namespace

// ---- the loader of the process

/// The registry of the process and the loader that adds classes to it.
struct PluginLoader::Process {
  Registry registry;
  PluginLoader loader{registry};
  Process() { registry.state_->loader = &loader; }
};

Registry& registry() { return PluginLoader::process().registry; }

PluginLoader& PluginLoader::instance() { return process().loader; }

PluginLoader::Process& PluginLoader::process() {
  // The object is never destroyed, because at the end of the process classes of plugins and of Lua
  // would be destroyed after objects that they need.
  static auto* const process = new Process;
  return *process;
}

void PluginLoader::prepare() {
  std::lock_guard lock(loading_lock_);
  if (is_prepared_) return;
  is_prepared_ = true;
  register_core_classes(registry_);
  read_built_in_index();
  for (auto* add : std::exchange(late_registrations_, {})) add(registry_);
}

void PluginLoader::add_late(void (*add)(Registry& registry)) {
  std::lock_guard lock(loading_lock_);
  is_prepared_ ? add(registry_) : late_registrations_.push_back(add);
}

void add_classes_late(void (*add)(Registry& registry)) { PluginLoader::instance().add_late(add); }

/// Reads the index of built-in plugins. Libraries that the index does not describe correctly are
/// loaded at once to learn their classes, except in a trial process, which must not fail because of
/// another library.
void PluginLoader::read_built_in_index() {
  built_in_plugins_ = read_index(installed_plugin_directory());
  for (const IndexedPlugin& plugin : built_in_plugins_)
    for (const IndexedClass& c : plugin.classes)
      indexed_classes_.add(c.kind, c.name, c.aliases, &plugin);
  for (const std::string& path : libraries_in(installed_plugin_directory())) {
    const bool is_indexed = std::any_of(built_in_plugins_.begin(), built_in_plugins_.end(),
                                        [&](auto& plugin) { return plugin.path == path; });
    try {
      if (!is_indexed && runs_trials_) load(path);
    } catch (const Error& error) {
      warn(error.what());
    }
  }
}

const NameTable<const IndexedPlugin*>& PluginLoader::indexed_classes() {
  prepare();
  return indexed_classes_;
}

const IndexedPlugin* PluginLoader::find_indexed(std::string_view kind, std::string_view word) {
  const auto* plugin = indexed_classes().find(kind, word);
  return plugin ? *plugin : nullptr;
}

Dict PluginLoader::indexed_traits(std::string_view kind, std::string_view name) {
  if (const IndexedPlugin* plugin = find_indexed(kind, name)) return traits_in(*plugin, kind, name);
  const FoundClasses classes = found_classes();
  const auto* plugin = classes->find(kind, name);
  return plugin ? traits_in(**plugin, kind, name) : Dict();
}

void PluginLoader::load_for(std::string_view kind, std::string_view word) {
  if (const IndexedPlugin* plugin = find_indexed(kind, word)) {
    load(plugin->path);
  } else if (!registry_.state_->find(kind, word)) {
    if (const std::string path = path_found_for(kind, word); !path.empty()) load_found(path);
  }
}

// ---- plugins on the search path

/// Searches the search path. No trial is started while a plugin is being loaded or within a trial,
/// where a trial of the same library would start without end.
void PluginLoader::search(bool may_run_trials) {
  prepare();
  found_plugins_.search(built_in_plugins_, indexed_classes_,
                        may_run_trials && runs_trials_ && loading_count_ == 0);
}

void PluginLoader::search_plugins() {
  std::lock_guard lock(loading_lock_);
  search(true);
}

FoundClasses PluginLoader::found_classes() {
  std::lock_guard lock(loading_lock_);
  search(false);
  return found_plugins_.classes();
}

/// Returns the path of the plugin on the search path that has the class; empty if there is none, or
/// if the plugin was refused and its file has not changed since.
std::string PluginLoader::path_found_for(std::string_view kind, std::string_view word) {
  std::lock_guard lock(loading_lock_);
  search(true);
  const auto* plugin = found_plugins_.classes()->find(kind, word);
  if (!plugin || running_lua_plugins_.contains(real_path((*plugin)->path))) return "";
  const auto refused_plugin = unloadable_files_.find((*plugin)->path);
  const bool may_retry = refused_plugin == unloadable_files_.end() ||
                         refused_plugin->second != state_of((*plugin)->path);
  return may_retry ? (*plugin)->path : "";
}

/// Loads a plugin from the search path. A plugin that is refused counts as missing; why_missing()
/// tells why.
void PluginLoader::load_found(const std::string& path) try {
  load(path);
} catch (const Interrupted&) {
  throw;
} catch (const Error&) {
  std::lock_guard lock(loading_lock_);
  unloadable_files_[path] = state_of(path);
}

std::string PluginLoader::why_missing(std::string_view kind, std::string_view word) {
  std::lock_guard lock(loading_lock_);
  for (const FoundPlugin& found_plugin : found_plugins_.plugins()) {
    if (!has_class(*found_plugin.plugin, kind, word)) continue;
    const auto refusal = refused_plugins_.find(real_path(found_plugin.plugin->path));
    const std::string reason =
        refusal == refused_plugins_.end() ? found_plugin.refusal_reason : refusal->second.refused;
    if (!reason.empty())
      return concat("; plugin '", found_plugin.plugin->name, "' (", found_plugin.plugin->path,
                    ") has it, but is refused: ", reason);
  }
  return "";
}

std::string PluginLoader::refused_plugins_note() {
  std::lock_guard lock(loading_lock_);
  std::string text;
  for (const FoundPlugin& found_plugin : found_plugins_.plugins()) {
    const IndexedPlugin& plugin = *found_plugin.plugin;
    if (!found_plugin.refusal_reason.empty() && !plugin.version.empty() && plugin.classes.empty())
      text += concat("; plugin '", plugin.name, "' (", plugin.path,
                     "), whose classes are not known, is refused: ", found_plugin.refusal_reason);
  }
  return text;
}

void PluginLoader::refuse_indexed(std::string_view kind, std::string_view word,
                                  std::string_view origin) {
  const auto* plugin = indexed_classes().find_exact(kind, word);
  if (plugin && (*plugin)->path != origin && real_path((*plugin)->path) != origin)
    refuse_clash(kind, word, concat("plugin '", (*plugin)->name, "' (", (*plugin)->path, ")"));
}

// ---- loading

PluginRecord PluginLoader::load(const std::string& path) {
  prepare();
  return is_lua(path) ? load_lua(path) : load_library(path);
}

PluginRecord PluginLoader::load_library(const std::string& path) {
  std::lock_guard lock(loading_lock_);
  struct stat status {};
  const bool file_exists = stat(system_path(path), &status) == 0;
  const FileId id{status.st_dev, status.st_ino};
  if (auto loaded_record = loaded_plugins_.find(id);
      file_exists && loaded_record != loaded_plugins_.end())
    return loaded_record->second;
  const LoadingScope loading_scope(loading_count_);
  try {
    PluginRecord record = load_new(path);
    refused_plugins_.erase(record.path);
    return loaded_plugins_[id] = record;
  } catch (const Error& error) {
    PluginRecord& record = refused_plugins_[real_path(path)] = record_of_file(path);
    record.path = real_path(path), record.refused = error.what();
    throw;
  }
}

/// While an object of this class lives, the loader does not look for classes in this plugin written
/// in Lua, which is running and will register them.
class PluginLoader::LuaRunScope {
 public:
  LuaRunScope(PluginLoader& loader, const std::string& path) : loader_(loader), path_(path) {
    std::lock_guard lock(loader_.loading_lock_);
    if (!loader_.running_lua_plugins_.insert(path_).second)
      fail("plugin '", path_, "' is being run");
  }
  ~LuaRunScope() {
    std::lock_guard lock(loader_.loading_lock_);
    loader_.running_lua_plugins_.erase(path_);
  }
  LuaRunScope(const LuaRunScope&) = delete;
  LuaRunScope& operator=(const LuaRunScope&) = delete;

 private:
  PluginLoader& loader_;
  std::string path_;
};

/// Runs a plugin written in Lua if it has not run yet. The lock is not held while the plugin runs,
/// because the plugin may wait for other threads that load classes of plugins.
PluginRecord PluginLoader::load_lua(const std::string& path) {
  const std::string resolved_path = real_path(path);
  const FileState state = state_of(path);
  const FileId id{state.device, state.inode};
  if (std::lock_guard lock(loading_lock_); loaded_plugins_.contains(id)) return loaded_plugins_[id];
  const LuaRunScope running(*this, resolved_path);
  PluginRecord record = record_of_file(path);
  record.path = resolved_path;
  if (record.refused.empty()) record.refused = refusal_of_lua(record);
  std::lock_guard lock(loading_lock_);
  record.loaded = record.refused.empty();
  if (record.loaded) return refused_plugins_.erase(resolved_path), loaded_plugins_[id] = record;
  refused_plugins_[resolved_path] = record;
  fail("plugin '", record.name, "' (", path, ") is not loaded: ", record.refused);
}

/// Runs the Lua file; returns why the plugin is refused, or an empty string.
std::string PluginLoader::refusal_of_lua(const PluginRecord& plugin) try {
  if (std::string reason = reason_not_trusted(plugin.path); !reason.empty()) return reason;
  check_plugin_name(plugin.name, built_in_plugins_);
  run_lua_plugin(plugin);
  return "";
} catch (const Interrupted&) {
  throw;
} catch (const Error& error) {
  return error.what();
}

PluginRecord PluginLoader::load_new(const std::string& path) {
  const std::string resolved_path = real_path(path);
  const ElfFile file(path);
  const PluginInfo stamp = read_stamp(file);
  const bool is_installed = fs::path(resolved_path).parent_path() == installed_plugin_directory();
  try {
    if (std::string reason = is_installed ? "" : reason_not_trusted(resolved_path); !reason.empty())
      fail(reason);
    if (std::string reason = mismatch(stamp); !reason.empty()) fail(reason);
    const bool needs_trial = std::none_of(
        built_in_plugins_.begin(), built_in_plugins_.end(),
        [&](auto& plugin) { return plugin.path == path || plugin.path == resolved_path; });
    if (!is_installed) check_plugin_name(stamp.name, built_in_plugins_);
    if (needs_trial) load_in_trial(resolved_path, file, stamp);
    return map_and_register(resolved_path, stamp);
  } catch (const Error& error) {
    fail("plugin '", stamp.name, "' ", stamp.version, " (", path,
         ") is not loaded: ", error.what());
  }
}

/// Loads a library in a trial process, which first loads the plugins that are loaded here, because
/// the setup of the library may depend on them. Fails if the file changes during the trial.
void PluginLoader::load_in_trial(const std::string& path, const ElfFile& file,
                                 const PluginInfo& stamp) {
  check_tables(file);
  if (runs_trials_) {
    std::vector<std::string> libraries;
    for (const auto& [loaded_path, state] : loaded_after_trial_)
      if (state_of(loaded_path) == state) libraries.push_back(loaded_path);
    libraries.push_back(path);
    if (const std::string reason = PluginTrial::in_program(libraries).outcome().failure;
        !reason.empty())
      fail(reason);
    const std::string reason = failure_in_copy([&] { map_and_register(path, stamp); });
    if (!reason.empty()) fail(reason);
  }
  if (state_of(path) != file.state()) fail("the file has changed while it was tried");
  loaded_after_trial_.emplace_back(path, file.state());
}

PluginRecord PluginLoader::map_and_register(const std::string& path, const PluginInfo& stamp) {
  const SavedProcessState saved_state;
  const MappedPlugin plugin = map_library(path, stamp);
  const PluginInfo& info = plugin.info;
  Registry staging;
  staging.state_->plugin = info.name;
  staging.state_->version = info.version;
  staging.state_->origin = path;
  run_setup(plugin, staging);
  register_all(staging);
  PluginRecord record = to_record(info, path);
  record.loaded = true;
  for (const ClassInfoPtr& c : staging.state_->classes)
    record.classes.emplace_back(c->kind, c->name);
  return record;
}

/// Registers all classes of a plugin, or none if one is refused.
void PluginLoader::register_all(Registry& staging) {
  Registry::State& state = *registry_.state_;
  for (const ClassInfoPtr& info : staging.state_->classes)
    for (const std::string& word : words_of(*info)) {
      if (ClassInfoPtr registered = state.find_exact(info->kind, word))
        refuse_clash(info->kind, word, describe_origin(*registered));
      refuse_indexed(info->kind, word, info->origin);
    }
  for (const ClassInfoPtr& info : staging.state_->classes) state.insert(info);
}

PluginRecord PluginLoader::load_by_name(const std::string& name) {
  prepare();
  {
    std::lock_guard lock(loading_lock_);
    for (const auto& [id, record] : loaded_plugins_)
      if (record.name == name) return record;
  }
  return load(path_of(name));
}

/// Returns the path of the first plugin of this name on the search path.
std::string PluginLoader::path_of(const std::string& name) {
  std::vector<std::string> tried_paths, names;
  for (const SearchDirectory& search_directory : checked_search_directories()) {
    tried_paths.push_back(search_directory.directory +
                          (search_directory.exclusion_reason.empty()
                               ? ""
                               : " (left out: " + search_directory.exclusion_reason + ")"));
    if (!search_directory.exclusion_reason.empty()) continue;
    for (const std::string& path : plugins_in(search_directory.directory)) {
      names.push_back(record_of_file(path).name);
      if (names.back() == name) return path;
    }
  }
  fail("no plugin '", name, "'", did_you_mean(name, names), "; looked in ", join(tried_paths));
}

std::vector<PluginRecord> PluginLoader::list() {
  prepare();
  std::lock_guard lock(loading_lock_);
  std::map<std::string, PluginRecord> records = refused_plugins_;  // keys are paths
  for (const auto& [id, record] : loaded_plugins_) records.emplace(record.path, record);
  for (const IndexedPlugin& plugin : built_in_plugins_)
    records.emplace(plugin.path, to_record(plugin));
  search(true);
  for (const FoundPlugin& found_plugin : found_plugins_.plugins()) {
    PluginRecord record = to_record(*found_plugin.plugin);
    record.refused = found_plugin.refusal_reason;
    records.emplace(real_path(record.path), std::move(record));
  }
  std::vector<PluginRecord> list;
  for (auto& [path, record] : records) list.push_back(std::move(record));
  return list;
}

// ---- the index of built-in plugins

IndexedPlugin PluginLoader::load_to_index(const std::string& path) {
  std::lock_guard lock(loading_lock_);
  disable_trials();
  const PluginRecord record = load(path);
  IndexedPlugin plugin{path, record.name, record.version, {}};
  for (const auto& [kind, name] : record.classes) {
    const ClassInfoPtr info = registry_.state_->find_exact(kind, name);
    const Dict& traits = info->schema.traits;
    plugin.classes.push_back({kind, name, info->aliases, traits.empty() ? "" : to_json(traits)});
  }
  return plugin;
}

void PluginLoader::write_index_of(const std::string& directory) {
  std::lock_guard lock(loading_lock_);
  disable_trials();
  // Setting is_prepared_ keeps prepare() from reading the old index.
  const bool is_first_write = !std::exchange(is_prepared_, true);
  if (is_first_write) register_core_classes(registry_);
  std::vector<IndexedPlugin> plugins;
  std::vector<std::string> refusal_messages;
  for (const std::string& path : libraries_in(directory)) try {
      plugins.push_back(load_to_index(path));
    } catch (const Error& error) {
      refusal_messages.push_back(error.what());
    }
  write_index(directory, plugins);
  if (!refusal_messages.empty()) fail(join(refusal_messages, "\n"));
}

// ---- public

PluginRecord load_plugin(const std::string& path) { return PluginLoader::instance().load(path); }
PluginRecord load_plugin_by_name(const std::string& name) {
  return PluginLoader::instance().load_by_name(name);
}
std::vector<PluginRecord> list_plugins() { return PluginLoader::instance().list(); }
std::string load_untried(const std::string& library) try {
  return to_json(index_entry(PluginLoader::instance().load_to_index(library)));
} catch (const Error& error) {
  return to_json(Dict{{"refused", error.what()}});
}
void prepare_for_trials() {
  PluginLoader::instance().disable_trials();
  PluginLoader::instance().prepare();
}
void write_plugin_index(const std::string& directory) {
  PluginLoader::instance().write_index_of(directory);
}

}  // namespace crescent
