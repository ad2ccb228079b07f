#include "registry/loader/mapped_plugin.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "crescent/base/error.h"
#include "registry/files/plugin_table.h"
#include "system/plugin_code.h"

namespace crescent {
namespace {

/// Removes the path with which messages of the dynamic linker start; the loader's own messages
/// contain it already.
std::string without_path(std::string message, const std::string& path) {
  const std::string prefix = path + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

/// Records the address range of the plugin's library, so that a crash in it names the plugin.
void note_code_of(const MappedPlugin& plugin) {
  const auto visit_library = [](dl_phdr_info* library, size_t, void* data) {
    const auto& noted_plugin = *static_cast<const MappedPlugin*>(data);
    const void* declaration_address = noted_plugin.table ? noted_plugin.table : &noted_plugin.info;
    const auto address = reinterpret_cast<uintptr_t>(declaration_address);
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (int i = 0; i < library->dlpi_phnum; ++i) {
      const auto& segment = library->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      begin = std::min(begin, library->dlpi_addr + segment.p_vaddr);
      end = std::max(end, library->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    if (address < begin || address >= end) return 0;
    note_plugin_code(begin, end, noted_plugin.info.name);
    return 1;
  };
  dl_iterate_phdr(visit_library, const_cast<MappedPlugin*>(&plugin));
}

/// Returns the plugin of a library with a C table. The stamp must live as long as the process, as
/// the library does.
MappedPlugin mapped_table(void* library, const PluginInfo& stamp) {
  const void* table = find_table(library, stamp);
  if (!table) fail("its symbol 'crescent_plugin_table' is not what its file says");
  const MappedPlugin plugin{*new PluginInfo(stamp), table};
  note_code_of(plugin);
  return plugin;
}

}  // namespace

/// Fails unless the stamp in memory equals `stamp`, which was read from the file, up to the address
/// of the setup function, which dlopen() sets.
MappedPlugin map_library(const std::string& path, const PluginInfo& stamp) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) fail(without_path(dlerror(), path));
  if (is_table(stamp)) return mapped_table(library, stamp);
  auto* info = static_cast<const PluginInfo*>(dlsym(library, "crescent_plugin"));
  const bool has_same_stamp = info && std::memcmp(info, &stamp, offsetof(PluginInfo, setup)) == 0;
  if (!has_same_stamp || !info->setup)
    fail("its symbol 'crescent_plugin' is not what its stamp says");
  note_code_of({*info});
  return {*info};
}

void run_setup(const MappedPlugin& plugin, Registry& staging) try {
  plugin.table ? register_table(plugin.table, staging) : plugin.info.setup(staging);
} catch (const Error&) {
  throw;
} catch (...) {
  fail("its setup failed: ", exception_text());
}

}  // namespace crescent
