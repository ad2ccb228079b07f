#pragma once
#include <mutex>

#include "crescent/registry.h"
#include "registry/name_table.h"

namespace crescent {

class PluginLoader;
using ClassInfoPtr = std::shared_ptr<const ClassInfo>;

/// "plugin 'acme.scale' (/path/acme.scale.so)", "Lua", "the program".
std::string describe_origin(const ClassInfo& info);
/// Name and aliases of a class.
std::vector<std::string> words_of(const ClassInfo& info);
[[noreturn]] void refuse_clash(std::string_view kind, std::string_view word,
                               std::string_view origin);

struct Registry::State {
  mutable std::mutex mutex;  // of what follows; never held while foreign code runs
  NameTable<ClassInfoPtr> table;
  std::vector<ClassInfoPtr> classes;  // in order of registration

  PluginLoader* loader = nullptr;       // of the process' registry; a staging registry has none
  std::string plugin, version, origin;  // written into classes that are added without

  ClassInfoPtr find(std::string_view kind, std::string_view word) const;
  ClassInfoPtr find_exact(std::string_view kind, std::string_view word) const;
  template <class From>
  std::vector<std::string> collect(From from) const;
  void insert(ClassInfoPtr info);
  void erase(const ClassInfoPtr& info);
};

}  // namespace crescent
