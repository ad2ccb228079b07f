#include "plugin_names.h"

#include <algorithm>
#include <cctype>

#include "crescent/base/error.h"
#include "crescent/registry/loader.h"
#include "crescent/registry/stamp.h"

namespace crescent::program {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_allowed(char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

void check_letters(const std::string& name) {
  if (!std::all_of(name.begin(), name.end(), is_allowed))
    fail(
        "new-plugin: a name has lower-case letters, digits, '_' and '.', such as 'acme.swish'; "
        "got '",
        name, "'");
  const size_t max_length = sizeof(PluginInfo::name) - 1;
  if (name.size() > max_length)
    fail("new-plugin: a name has at most ", max_length, " letters, got ", name.size());
}

/// Fails unless every part between dots starts with a letter.
void check_parts(const std::string& name) {
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (begin == end || !is_lower(name[begin]))
      fail("new-plugin: each part of a name starts with a letter, got '", name, "'");
    begin = end + 1;
  }
}

void check_reserved(const std::string& name) {
  for (const PluginRecord& plugin : list_plugins())
    if (plugin.name == name && plugin.refused.empty())
      fail("new-plugin: '", name, "' is the name of a plugin that is there already, ", plugin.path);
}

std::string class_of(const std::string& file) {
  std::string name;
  bool begins_word = true;
  for (char c : file) {
    if (c != '_')
      name += begins_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins_word = c == '_';
  }
  return name;
}

}  // namespace

PluginNames plugin_names(const std::string& name) {
  check_letters(name);
  check_parts(name);
  check_reserved(name);
  PluginNames names{name, name.substr(name.rfind('.') + 1), "", name,
                    name.substr(0, name.find('.'))};
  names.class_name = class_of(names.file);
  std::replace(names.target.begin(), names.target.end(), '.', '_');
  return names;
}

}  // namespace crescent::program
