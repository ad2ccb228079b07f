#pragma once
#include <mutex>

#include "crescent/registry/registry.h"
#include "registry/name_table.h"

namespace crescent {

struct IndexedPlugin;
using ClassInfoPtr = std::shared_ptr<const ClassInfo>;

/// "plugin 'acme.scale' (/path/acme.scale.so)", "Lua", "the program".
std::string describe_origin(const ClassInfo& info);
/// Name and aliases of a class.
std::vector<std::string> words_of(const ClassInfo& info);
[[noreturn]] void refuse_clash(std::string_view kind, std::string_view word,
                               std::string_view origin);

/// Where the classes are that nobody has asked for yet: the process' loader of plugins.
class ClassSource {
 public:
  virtual ~ClassSource() = default;
  /// Registers the class, where a plugin that came with Crescent has it.
  virtual void load_for(std::string_view kind, std::string_view word) = 0;
  /// What the index says is in plugins that came with Crescent, loaded or not.
  virtual const NameTable<const IndexedPlugin*>& promised() = 0;
  /// Schema::trait of a class that the index promises.
  virtual Dict promised_traits(std::string_view kind, std::string_view name) = 0;
  /// Fails when a built-in plugin, loaded or not, has this name and `origin` is not that plugin.
  virtual void refuse_promised(std::string_view kind, std::string_view word,
                               std::string_view origin) = 0;
};

struct Registry::State {
  mutable std::mutex mutex;  // of what follows; never held while foreign code runs
  NameTable<ClassInfoPtr> table;
  std::vector<ClassInfoPtr> classes;  // in order of registration

  ClassSource* loader = nullptr;        // of the process' registry; a staging registry has none
  std::string plugin, version, origin;  // written into classes that are added without

  ClassInfoPtr find(std::string_view kind, std::string_view word) const;
  ClassInfoPtr find_exact(std::string_view kind, std::string_view word) const;
  template <class From>
  std::vector<std::string> collect(From from) const;
  void insert(ClassInfoPtr info);
  void erase(const ClassInfoPtr& info);
};

}  // namespace crescent
