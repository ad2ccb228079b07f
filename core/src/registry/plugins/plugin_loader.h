// Loads plugins into the process' registry: asked for by path, by name, or because a class of
// theirs is.
#pragma once
#include <map>
#include <mutex>

#include "crescent/loader.h"
#include "crescent/stamp.h"
#include "registry/name_table.h"
#include "registry/plugins/plugin_index.h"
#include "registry/registry_state.h"

namespace crescent {

class PluginLoader {
 public:
  /// Gives the process' registry its loader.
  static void attach(Registry& registry);
  static PluginLoader& instance();

  /// Core's own classes and the index of built-in plugins, before the first question that needs
  /// them.
  void prepare();
  /// Loads the built-in plugin that has this class, if one has.
  void load_for(std::string_view kind, std::string_view word);
  /// What the index says is in plugins that came with Crescent, loaded or not.
  const NameTable<const IndexedPlugin*>& promised();
  /// Schema::trait of a class that the index promises.
  Dict promised_traits(std::string_view kind, std::string_view name);
  /// Fails when a built-in plugin, loaded or not, has this name and `origin` is not that plugin.
  void refuse_promised(std::string_view kind, std::string_view word, std::string_view origin);

  PluginRecord load(const std::string& path);
  /// From now on plugins are not tried in another process first: this is that process, or they are
  /// known to be good.
  void stop_trials() { trials_ = false; }
  PluginRecord load_by_name(const std::string& name);
  std::vector<PluginRecord> list();
  void write_index_of(const std::string& directory);

 private:
  using FileId = std::pair<uint64_t, uint64_t>;  // device and inode: one file under any name

  explicit PluginLoader(Registry& registry) : registry_(registry) {}
  PluginRecord load_new(const std::string& path);
  void try_first(const std::string& path, const PluginInfo& stamp);
  PluginRecord take_in(const std::string& path, const PluginInfo& stamp);
  void take_over(Registry& staging);
  void read_built_in_index();
  const IndexedPlugin* promise(std::string_view kind, std::string_view word);

  Registry& registry_;
  std::recursive_mutex mutex_;  // of loading; a plugin's setup may come back here
  bool prepared_ = false, trials_ = true;
  std::vector<IndexedPlugin> built_in_;
  NameTable<const IndexedPlugin*> promised_;
  std::map<FileId, PluginRecord> loaded_;
  std::vector<std::string> foreign_;  // paths of loaded plugins that are not in the index, in order
  std::map<std::string, PluginRecord> refused_;  // by path
};

}  // namespace crescent
