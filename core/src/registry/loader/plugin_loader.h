// Loads plugins into the process' registry: asked for by path, by name, or because a class of
// theirs is.
#pragma once
#include <map>

#include "crescent/registry/loader.h"
#include "crescent/registry/stamp.h"
#include "registry/loader/elf_file.h"
#include "registry/loader/loading_lock.h"
#include "registry/loader/plugin_index.h"
#include "registry/name_table.h"
#include "registry/registry_state.h"

namespace crescent {

class PluginLoader final : public ClassSource {
 public:
  explicit PluginLoader(Registry& registry) : registry_(registry) {}
  static PluginLoader& instance();

  /// Core's own classes and the index of built-in plugins, before the first question that needs
  /// them.
  void prepare();
  void load_for(std::string_view kind, std::string_view word) override;
  const NameTable<const IndexedPlugin*>& promised() override;
  Dict promised_traits(std::string_view kind, std::string_view name) override;
  void refuse_promised(std::string_view kind, std::string_view word,
                       std::string_view origin) override;

  PluginRecord load(const std::string& path);
  /// From now on plugins are not tried in another process first: this is that process, or they are
  /// known to be good.
  void stop_trials() { trials_ = false; }
  PluginRecord load_by_name(const std::string& name);
  std::vector<PluginRecord> list();
  void write_index_of(const std::string& directory);

 private:
  struct Process;
  static Process& process();
  friend Registry& registry();

  using FileId = std::pair<uint64_t, uint64_t>;  // device and inode: one file under any name

  PluginRecord load_new(const std::string& path);
  void try_first(const std::string& path, const ElfFile& file, const PluginInfo& stamp);
  PluginRecord take_in(const std::string& path, const PluginInfo& stamp);
  void take_over(Registry& staging);
  void read_built_in_index();
  const IndexedPlugin* promise(std::string_view kind, std::string_view word);

  Registry& registry_;
  LoadingLock mutex_;
  bool prepared_ = false, trials_ = true;
  std::vector<IndexedPlugin> built_in_;
  NameTable<const IndexedPlugin*> promised_;
  std::map<FileId, PluginRecord> loaded_;
  /// Libraries that are not in the index and were tried and mapped, in order.
  std::vector<std::pair<std::string, FileState>> foreign_;
  std::map<std::string, PluginRecord> refused_;  // by path
};

}  // namespace crescent
