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

/// The interface of the plugin loader for the registry: it provides classes that are not registered
/// yet.
class ClassSource {
 public:
  virtual ~ClassSource() = default;
  /// Loads the plugin that has a class with the name or alias `word`, if such a plugin is built in
  /// or on the search path; the plugin registers the class.
  virtual void load_for(std::string_view kind, std::string_view word) = 0;
  /// The classes that the index of built-in plugins lists, whether or not they are loaded.
  virtual const NameTable<const IndexedPlugin*>& indexed_classes() = 0;
  /// The classes of plugins on the search path that can be found out without running code of the
  /// plugins.
  virtual FoundClasses found_classes() = 0;
  /// Returns the end of an error message, which names the plugin on the search path that has the
  /// class and says why it is refused; empty if there is none.
  virtual std::string why_missing(std::string_view kind, std::string_view word) = 0;
  /// Returns the end of an error message about a class that no plugin provides: the plugins on the
  /// search path that were refused before their classes were known, and the reasons; empty if there
  /// are none.
  virtual std::string refused_plugins_note() = 0;
  /// The traits (Schema::trait) of a class that the index lists or that a plugin on the search path
  /// has.
  virtual Dict indexed_traits(std::string_view kind, std::string_view name) = 0;
  /// Fails if a built-in plugin, loaded or not, has a class with this name and `origin` is not that
  /// plugin.
  virtual void refuse_indexed(std::string_view kind, std::string_view word,
                              std::string_view origin) = 0;
};

struct Registry::State {
  mutable std::mutex mutex;  // guards all members; not held while code of plugins runs
  NameTable<ClassInfoPtr> table;
  std::vector<ClassInfoPtr> classes;  // in order of registration

  // the plugin loader, which loads missing classes; null in a registry that the setup of a plugin
  // fills
  ClassSource* loader = nullptr;
  std::string plugin, version;  // of the plugin whose setup fills this registry
  std::string origin;           // the origin of classes that are added without one

  ClassInfoPtr find(std::string_view kind, std::string_view word) const;
  ClassInfoPtr find_exact(std::string_view kind, std::string_view word) const;
  template <class AddWords>
  std::vector<std::string> collect(AddWords add_words) const;
  void insert(ClassInfoPtr info);
  void erase(const ClassInfoPtr& info);
};

}  // namespace crescent
