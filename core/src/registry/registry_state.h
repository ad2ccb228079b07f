#pragma once
#include <mutex>

#include "crescent/registry/registry.h"
#include "registry/name_table.h"

namespace crescent {

struct IndexedPlugin;
using FoundClasses = std::shared_ptr<const NameTable<std::shared_ptr<const IndexedPlugin>>>;
using ClassInfoPtr = std::shared_ptr<const ClassInfo>;

/// The origin of a class: "plugin 'acme.scale' (/path/acme.scale.so)", "Lua", "the program".
std::string describe_origin(const ClassInfo& info);
/// The name and the aliases of a class.
std::vector<std::string> words_of(const ClassInfo& info);
[[noreturn]] void refuse_clash(std::string_view kind, std::string_view word,
                               std::string_view origin);

/// The interface of the plugin loader, which has the classes that are not registered yet.
class ClassSource {
 public:
  virtual ~ClassSource() = default;
  /// Registers the class if a built-in plugin has it, or one that is found on the search path.
  virtual void load_for(std::string_view kind, std::string_view word) = 0;
  /// The classes of built-in plugins by the index, loaded or not.
  virtual const NameTable<const IndexedPlugin*>& indexed_classes() = 0;
  /// The classes of plugins on the search path, as far as they are known without running any code.
  virtual FoundClasses found_classes() = 0;
  /// The end of a message: the plugin on the search path that has the class, and why it is refused;
  /// empty without one.
  virtual std::string why_missing(std::string_view kind, std::string_view word) = 0;
  /// The traits (Schema::trait) of a class of the index or of a plugin on the search path.
  virtual Dict indexed_traits(std::string_view kind, std::string_view name) = 0;
  /// Fails if a built-in plugin, loaded or not, has a class with this name and `origin` is not that
  /// plugin.
  virtual void refuse_indexed(std::string_view kind, std::string_view word,
                              std::string_view origin) = 0;
};

struct Registry::State {
  mutable std::mutex mutex;  // guards the members below; never held while code of plugins runs
  NameTable<ClassInfoPtr> table;
  std::vector<ClassInfoPtr> classes;  // in order of registration

  ClassSource* loader = nullptr;        // of the process's registry; null in a staging registry
  std::string plugin, version, origin;  // the origin of classes that are added without one

  ClassInfoPtr find(std::string_view kind, std::string_view word) const;
  ClassInfoPtr find_exact(std::string_view kind, std::string_view word) const;
  template <class From>
  std::vector<std::string> collect(From from) const;
  void insert(ClassInfoPtr info);
  void erase(const ClassInfoPtr& info);
};

}  // namespace crescent
