#include "system/plugin_code.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace crescent {
namespace {

struct PluginCode {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<const char*> plugin{nullptr};  // set last; null while the entry is free or incomplete
};
std::array<PluginCode, 512> plugin_codes;
std::atomic<size_t> used_entries{0};

}  // namespace

void note_plugin_code(uintptr_t begin, uintptr_t end, const char* plugin) {
  const size_t i = used_entries++;
  if (i >= plugin_codes.size()) return;
  plugin_codes[i].begin = begin;
  plugin_codes[i].end = end;
  plugin_codes[i].plugin = plugin;
}

const char* plugin_at(const void* address) {
  const auto address_number = reinterpret_cast<uintptr_t>(address);
  for (const PluginCode& code : plugin_codes)
    if (const char* plugin = code.plugin;
        plugin && code.begin <= address_number && address_number < code.end)
      return plugin;
  return nullptr;
}

}  // namespace crescent
