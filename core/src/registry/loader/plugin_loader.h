// Loads plugins into the registry of the process: by path, by name, or by the name of a class that
// they provide.
#pragma once
#include <map>
#include <set>

#include "crescent/registry/loader.h"
#include "crescent/registry/stamp.h"
#include "registry/elf/elf_file.h"
#include "registry/files/plugin_index.h"
#include "registry/loader/found_plugins.h"
#include "registry/loader/loading_lock.h"
#include "registry/name_table.h"
#include "registry/registry_state.h"

namespace crescent {

class PluginLoader final : public ClassSource {
 public:
  explicit PluginLoader(Registry& registry) : registry_(registry) {}
  static PluginLoader& instance();

  /// Registers the classes of core, reads the index of built-in plugins, and calls the functions
  /// that were passed to add_late(). Only the first call has an effect.
  void prepare();
  /// Implements add_classes_late() of host/late_classes.h.
  void add_late(void (*add)(Registry& registry));
  /// From now on, the loader loads libraries without a trial in a child process (plugin_trial.h).
  /// Child processes that run trials call this function, and so do processes that write an index of
  /// trusted libraries.
  void disable_trials() { runs_trials_ = false; }
  void load_for(std::string_view kind, std::string_view word) override;
  const NameTable<const IndexedPlugin*>& indexed_classes() override;
  FoundClasses found_classes() override;
  std::string why_missing(std::string_view kind, std::string_view word) override;
  std::string refused_plugins_note() override;
  Dict indexed_traits(std::string_view kind, std::string_view name) override;
  void refuse_indexed(std::string_view kind, std::string_view word,
                      std::string_view origin) override;

  PluginRecord load(const std::string& path);
  /// Looks for plugins in the folders of the search path; runs trials of libraries that are not
  /// known yet.
  void search_plugins();
  /// Loads a library without a trial and returns its entry for an index.
  IndexedPlugin load_to_index(const std::string& path);
  PluginRecord load_by_name(const std::string& name);
  std::vector<PluginRecord> list();
  void write_index_of(const std::string& directory);

 private:
  struct Process;
  static Process& process();
  friend Registry& registry();

  // device and inode, which identify a file that may have several names
  using FileId = std::pair<uint64_t, uint64_t>;

  PluginRecord load_library(const std::string& path);
  class LuaRunScope;
  PluginRecord load_lua(const std::string& path);
  std::string refusal_of_lua(const PluginRecord& plugin);
  static std::string path_of(const std::string& name);
  PluginRecord load_new(const std::string& path);
  void load_in_trial(const std::string& path, const ElfFile& file, const PluginInfo& stamp);
  PluginRecord map_and_register(const std::string& path, const PluginInfo& stamp);
  void register_all(Registry& staging);
  void read_built_in_index();
  const IndexedPlugin* find_indexed(std::string_view kind, std::string_view word);
  std::string path_found_for(std::string_view kind, std::string_view word);
  void load_found(const std::string& path);
  void search(bool may_run_trials);

  Registry& registry_;
  LoadingLock loading_lock_;
  bool is_prepared_ = false, runs_trials_ = true;
  std::vector<void (*)(Registry&)> late_registrations_;  // functions that prepare() will call
  std::vector<IndexedPlugin> built_in_plugins_;
  NameTable<const IndexedPlugin*> indexed_classes_;
  std::map<FileId, PluginRecord> loaded_plugins_;
  /// The libraries that were loaded first in a trial (a child process that shows whether they
  /// crash) and then in this process, in order. Built-in libraries are loaded without a trial.
  std::vector<std::pair<std::string, FileState>> loaded_after_trial_;
  std::map<std::string, PluginRecord> refused_plugins_;  // keys are paths
  FoundPlugins found_plugins_;
  // libraries on the search path that were refused; keys are paths
  std::map<std::string, FileState> unloadable_files_;
  std::set<std::string> running_lua_plugins_;  // real paths of the Lua plugins that are running
  int loading_count_ = 0;  // number of plugins being loaded; the setup of a plugin may load another
};

}  // namespace crescent
