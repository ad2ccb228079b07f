#include "registry/files/plugin_stamp.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

#include "registry/files/plugin_table.h"

namespace crescent {
namespace {

constexpr char kMagic[16] = "crescent-plugin";
constexpr std::string_view kSection = CRESCENT_PLUGIN_SECTION;
constexpr std::string_view kSeparator = "; ";  // separates the parts of a toolchain text

std::string hexadecimal(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::vector<std::string> parts_of(std::string_view toolchain) {
  std::vector<std::string> parts;
  for (size_t end; (end = toolchain.find(kSeparator)) != toolchain.npos;
       toolchain.remove_prefix(end + kSeparator.size()))
    parts.emplace_back(toolchain.substr(0, end));
  parts.emplace_back(toolchain);
  return parts;
}

/// Returns the parts in which two toolchain texts differ; the whole texts if they have different
/// numbers of parts.
std::pair<std::string, std::string> differences(std::string_view toolchain,
                                                std::string_view other_toolchain) {
  const std::vector<std::string> parts = parts_of(toolchain),
                                 other_parts = parts_of(other_toolchain);
  if (parts.size() != other_parts.size())
    return {std::string(toolchain), std::string(other_toolchain)};
  std::vector<std::string> differing_parts, other_differing_parts;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i] != other_parts[i])
      differing_parts.push_back(parts[i]), other_differing_parts.push_back(other_parts[i]);
  return {join(differing_parts, kSeparator), join(other_differing_parts, kSeparator)};
}

}  // namespace

PluginInfo read_stamp(const ElfFile& file) {
  const auto section = file.section(kSection);
  if (!section)
    if (const auto table = read_table_stamp(file)) return *table;
  if (!section) file.refuse("not a Crescent plugin: no section '", kSection, "'");
  PluginInfo info{};
  // Only the members before `setup` are read. The file does not contain the values of the others:
  // the dynamic linker sets them.
  const uint64_t stamp_bytes = offsetof(PluginInfo, setup);
  file.read(section->sh_offset, &info, std::min<uint64_t>(section->sh_size, stamp_bytes));
  if (std::memcmp(info.magic, kMagic, sizeof kMagic) != 0)
    file.refuse("not a Crescent plugin: its stamp is not one");
  const bool is_terminated = !info.toolchain[sizeof info.toolchain - 1] &&
                             !info.name[sizeof info.name - 1] &&
                             !info.version[sizeof info.version - 1];
  if (section->sh_size >= stamp_bytes && is_terminated) return info;
  if (section->sh_size >= offsetof(PluginInfo, headers) && info.abi != CRESCENT_PLUGIN_ABI)
    file.refuse(mismatch(info));
  file.refuse("not a Crescent plugin: its stamp is ",
              section->sh_size < stamp_bytes ? "cut short" : "not one");
}

std::string mismatch(const PluginInfo& stamp) {
  if (is_table(stamp)) return table_mismatch(stamp);
  static const std::string kRemedy =
      "; build it again against this Crescent: cmake --build build --clean-first";
  const std::string core_version = concat("Crescent ", CRESCENT_VERSION);
  if (stamp.abi != CRESCENT_PLUGIN_ABI)
    return concat("it was built for plugin interface ", stamp.abi, ", ", core_version, " has ",
                  CRESCENT_PLUGIN_ABI, kRemedy);
  if (stamp.size != sizeof(PluginInfo))
    return concat("its stamp has ", stamp.size, " bytes, that of ", core_version, " has ",
                  sizeof(PluginInfo), kRemedy);
  if (std::string_view(stamp.toolchain) != CRESCENT_TOOLCHAIN) {
    const auto [plugin_parts, core_parts] = differences(stamp.toolchain, CRESCENT_TOOLCHAIN);
    return concat("it was built with '", plugin_parts, "', ", core_version, " with '", core_parts,
                  "'", kRemedy);
  }
  if (stamp.headers != CRESCENT_HEADERS_HASH)
    return concat("it was built with public headers ", hexadecimal(stamp.headers), ", ",
                  core_version, " has ", hexadecimal(CRESCENT_HEADERS_HASH), kRemedy);
  if (!*stamp.name) return "its stamp has no name";
  return "";
}

}  // namespace crescent
