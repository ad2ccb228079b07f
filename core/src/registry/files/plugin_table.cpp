#include "registry/files/plugin_table.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "crescent_plugin.h"
#include "system/installation.h"

namespace crescent {
namespace {

constexpr std::string_view kTableSection = CRESCENT_TABLE_SECTION;
constexpr char kTableMagic[16] = CRESCENT_TABLE_MAGIC;
constexpr const char* kTableLibrary = "libcrescent_c.so.1";

using RegisterTable = void (*)(const crescent_plugin* plugin, Registry* registry);

RegisterTable find_register_table() {
  const auto path = std::filesystem::path(core_library_path()).parent_path() / kTableLibrary;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) fail("it needs ", kTableLibrary, ", which cannot be loaded: ", dlerror());
  const auto register_function =
      reinterpret_cast<RegisterTable>(dlsym(library, "crescent_private_register_table"));
  if (!register_function) fail("'", path.string(), "' is of another Crescent");
  return register_function;
}

}  // namespace

std::optional<PluginInfo> read_table_stamp(const ElfFile& file) {
  const auto section = file.section(kTableSection);
  if (!section) return std::nullopt;
  crescent_plugin table_head{};
  const uint64_t stamp_size = offsetof(crescent_plugin, start);
  file.read(section->sh_offset, &table_head, std::min<uint64_t>(section->sh_size, stamp_size));
  const bool is_terminated = !table_head.name[sizeof table_head.name - 1] &&
                             !table_head.version[sizeof table_head.version - 1];
  if (section->sh_size < stamp_size ||
      std::memcmp(table_head.magic, kTableMagic, sizeof kTableMagic) != 0 || !is_terminated)
    file.refuse("not a Crescent plugin: its table is not one");
  PluginInfo info{};
  std::memcpy(info.magic, table_head.magic, sizeof info.magic);
  std::memcpy(info.name, table_head.name, sizeof info.name);
  std::memcpy(info.version, table_head.version, sizeof info.version);
  info.size = std::min<uint64_t>(table_head.struct_size, section->sh_size);
  info.abi = table_head.table_version;
  return info;
}

bool is_table(const PluginInfo& stamp) {
  return std::memcmp(stamp.magic, kTableMagic, sizeof kTableMagic) == 0;
}

std::string table_mismatch(const PluginInfo& stamp) {
  if (stamp.abi != CRESCENT_TABLE_VERSION)
    return concat("its table has version ", stamp.abi, ", Crescent ", CRESCENT_VERSION, " reads ",
                  CRESCENT_TABLE_VERSION);
  if (stamp.size < offsetof(crescent_plugin, start) + sizeof(void*))
    return "its table is cut short";
  if (!*stamp.name) return "its table has no name";
  return "";
}

const void* find_table(void* library, const PluginInfo& stamp) {
  const auto* table = static_cast<const crescent_plugin*>(dlsym(library, "crescent_plugin_table"));
  const bool matches_stamp = table &&
                             std::memcmp(table->magic, kTableMagic, sizeof kTableMagic) == 0 &&
                             std::memcmp(table->name, stamp.name, sizeof table->name) == 0 &&
                             table->struct_size >= stamp.size;
  return matches_stamp ? table : nullptr;
}

void register_table(const void* table, Registry& registry) {
  static const RegisterTable register_function = find_register_table();
  register_function(static_cast<const crescent_plugin*>(table), &registry);
}

}  // namespace crescent
