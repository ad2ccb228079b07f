#include "registry/loader/class_of_plugin.h"

#include "crescent/registry/loader.h"
#include "registry/loader/plugin_loader.h"

namespace crescent {

std::shared_ptr<const ClassInfo> class_or_plugin(std::string_view kind, std::string_view name) {
  if (auto info = registry().find(kind, name)) return info;
  for (const PluginRecord& plugin : list_plugins()) {
    if (plugin.name != name || !plugin.refused.empty()) continue;
    for (const auto& [class_kind, class_name] : load_plugin(plugin.path).classes)
      if (class_kind == kind) return registry().get(kind, class_name);
  }
  return registry().get(kind, name);
}

void look_for_plugins() { PluginLoader::instance().search_plugins(); }

}  // namespace crescent
