// The plugins on the search path, besides the built-in ones, and their classes, so that a class is
// found by its name before its plugin is loaded.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "registry/name_table.h"
#include "registry/registry_state.h"
#include "registry/trial/trial_cache.h"

namespace crescent {

struct FoundPlugin {
  std::shared_ptr<const IndexedPlugin> plugin;
  std::string refusal_reason;  ///< why the plugin is refused; empty if its classes may be used
};

class FoundPlugins {
 public:
  using BuiltInClasses = NameTable<const IndexedPlugin*>;

  /// Searches the folders if they have changed since the last search. Files are read and, if
  /// `may_run_trials`, unknown libraries are loaded in child processes; a library that must not be
  /// trusted or has no matching stamp is never run. What a plugin in Lua provides is read from its
  /// first lines.
  void search(const std::vector<IndexedPlugin>& built_in_plugins,
              const BuiltInClasses& built_in_classes, bool may_run_trials);
  const std::vector<FoundPlugin>& plugins() const { return plugins_; }
  const FoundClasses& classes() const { return classes_; }

 private:
  // folders with their states; the state of a folder changes when a file is added or removed
  using Folders = std::vector<std::pair<std::string, FileState>>;
  struct Candidate;

  static std::vector<Candidate> candidates();
  bool try_libraries(const std::vector<Candidate>& candidates, bool may_run_trials);
  void accept_or_refuse(const std::vector<Candidate>& candidates,
                        const std::vector<IndexedPlugin>& built_in_plugins,
                        const BuiltInClasses& built_in_classes);

  Folders folders_;
  bool has_searched_ = false, is_complete_ = false;
  std::string cache_path_;  // path of the cache file from which tried_libraries_ was read
  TriedLibraries tried_libraries_;
  std::vector<FoundPlugin> plugins_;
  FoundClasses classes_ = std::make_shared<const NameTable<std::shared_ptr<const IndexedPlugin>>>();
};

/// Fails if a built-in plugin has this name.
void check_plugin_name(const std::string& name, const std::vector<IndexedPlugin>& built_in_plugins);

}  // namespace crescent
