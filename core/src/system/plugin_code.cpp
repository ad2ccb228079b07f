#include "system/plugin_code.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace crescent {
namespace {

struct CodeRange {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<const char*> plugin{nullptr};  // set last; null while the range is free or incomplete
};
std::array<CodeRange, 512> code_ranges;
std::atomic<size_t> used_range_count{0};

}  // namespace

void note_plugin_code(uintptr_t begin, uintptr_t end, const char* plugin) {
  const size_t range_index = used_range_count++;
  if (range_index >= code_ranges.size()) return;
  code_ranges[range_index].begin = begin;
  code_ranges[range_index].end = end;
  code_ranges[range_index].plugin = plugin;
}

const char* plugin_at(const void* address) {
  const auto address_number = reinterpret_cast<uintptr_t>(address);
  for (const CodeRange& range : code_ranges)
    if (const char* plugin = range.plugin;
        plugin && range.begin <= address_number && address_number < range.end)
      return plugin;
  return nullptr;
}

}  // namespace crescent
