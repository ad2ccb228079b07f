#include "registry/loader/plugin_stamp.h"

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace crescent {
namespace {

constexpr char kMagic[16] = "crescent-plugin";
constexpr std::string_view kSection = CRESCENT_PLUGIN_SECTION;

std::string hexadecimal(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

PluginInfo read_stamp(const ElfFile& file) {
  const auto section = file.section(kSection);
  if (!section) file.refuse("not a Crescent plugin: no section '", kSection, "'");
  PluginInfo info{};
  const uint64_t stamped =
      offsetof(PluginInfo, setup);  // the dynamic linker sets the members after this offset
  if (section->sh_size < stamped) file.refuse("not a Crescent plugin: its stamp is cut short");
  file.read(section->sh_offset, &info, stamped);
  const bool ended = !info.toolchain[sizeof info.toolchain - 1] &&
                     !info.name[sizeof info.name - 1] && !info.version[sizeof info.version - 1];
  if (std::memcmp(info.magic, kMagic, sizeof kMagic) != 0 || !ended)
    file.refuse("not a Crescent plugin: its stamp is not one");
  return info;
}

std::string mismatch(const PluginInfo& stamp) {
  static const std::string kMend =
      "; build it again against this Crescent: cmake --build build --clean-first";
  const std::string here = concat("Crescent ", CRESCENT_VERSION);
  if (stamp.abi != CRESCENT_PLUGIN_ABI)
    return concat("it was built for plugin interface ", stamp.abi, ", ", here, " has ",
                  CRESCENT_PLUGIN_ABI, kMend);
  if (stamp.size != sizeof(PluginInfo))
    return concat("its stamp has ", stamp.size, " bytes, that of ", here, " has ",
                  sizeof(PluginInfo), kMend);
  if (std::string_view(stamp.toolchain) != CRESCENT_TOOLCHAIN)
    return concat("it was built with '", stamp.toolchain, "', ", here, " with '",
                  CRESCENT_TOOLCHAIN, "'", kMend);
  if (stamp.headers != CRESCENT_HEADERS_HASH)
    return concat("it was built with public headers ", hexadecimal(stamp.headers), ", ", here,
                  " has ", hexadecimal(CRESCENT_HEADERS_HASH), kMend);
  if (!*stamp.name) return "its stamp has no name";
  return "";
}

}  // namespace crescent
