#include "library/examples.h"

#include <link.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include "crescent/base/error.h"
#include "crescent/registry/loader.h"
#include "crescent/system/file.h"

namespace crescent::lua {
namespace {

namespace fs = std::filesystem;

// the beginning of error messages at the prompt
constexpr const char* kMessageStart = "crescent: ";

struct Example {
  std::string entries;  ///< the entries that succeed, with their output
  std::string errors;   ///< the entries that fail, with their messages
  std::string family;   ///< the name of the file, without its ending
};
using Examples = std::map<std::string, Example>;

/// The names in a heading "# cr.ops.add, cr.ops.sum".
std::vector<std::string> names_in(const std::string& heading) {
  std::vector<std::string> names;
  std::istringstream words(heading.substr(2));
  for (std::string name; std::getline(words >> std::ws, name, ',');) names.push_back(name);
  return names;
}

/// Adds an entry and its output to the examples of these names.
void add_entry(Examples& examples, const std::vector<std::string>& names, const std::string& text) {
  const bool fails = text.find(concat("\n", kMessageStart)) != text.npos;
  for (const std::string& name : names)
    (fails ? examples[name].errors : examples[name].entries) += text;
}

void read_examples(const std::string& text, const std::string& family, Examples& examples) {
  std::vector<std::string> names;
  std::string entry;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_heading = line.starts_with("# ");
    if (is_heading || line.starts_with("> ")) add_entry(examples, names, std::exchange(entry, ""));
    if (is_heading)
      for (const std::string& name : names = names_in(line)) examples[name].family = family;
    else if (!line.empty())
      entry += line + "\n";
  }
  add_entry(examples, names, entry);
}

/// The folders of the plugin search path, and those of loaded plugins.
std::set<fs::path> plugin_folders() {
  std::set<fs::path> folders;
  for (const std::string& folder : plugin_search_path()) folders.insert(folder);
  for (const PluginRecord& plugin : list_plugins())
    if (plugin.loaded) folders.insert(fs::path(plugin.path).parent_path());
  return folders;
}

Examples examples_in(const std::set<fs::path>& folders) {
  Examples examples;
  for (const fs::path& folder : folders) {
    std::error_code ignored_error;
    for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored_error))
      if (file.path().extension() == ".examples")
        read_examples(read_file(file.path().string()), file.path().stem(), examples);
  }
  return examples;
}

std::mutex& examples_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// The number of libraries that the process has loaded so far.
unsigned long long loaded_library_count() {
  unsigned long long count = 0;
  const auto read_info = [](dl_phdr_info* info, size_t, void* to) {
    *static_cast<unsigned long long*>(to) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(read_info, &count);
  return count;
}

/// All examples. The files are read again when plugins in other folders were loaded meanwhile. The
/// caller must hold examples_mutex().
const Examples& all_examples() {
  static std::set<fs::path> folders;
  static Examples examples;
  static unsigned long long last_library_count = 0;
  const unsigned long long library_count = loaded_library_count();
  if (std::exchange(last_library_count, library_count) == library_count) return examples;
  if (std::set<fs::path> current_folders = plugin_folders(); current_folders != folders) {
    examples = examples_in(current_folders);
    folders = std::move(current_folders);
  }
  return examples;
}

Example find_example(const std::string& path) {
  const std::lock_guard lock(examples_mutex());
  const Examples& examples = all_examples();
  const auto it = examples.find(path);
  return it == examples.end() ? Example() : it->second;
}

}  // namespace

std::string example_of(const std::string& path) { return find_example(path).entries; }
std::string errors_of(const std::string& path) { return find_example(path).errors; }
std::string family_of(const std::string& path) { return find_example(path).family; }

std::vector<std::string> names_with_example(const std::string& name) {
  const std::lock_guard lock(examples_mutex());
  std::vector<std::string> names;
  for (const auto& [path, example] : all_examples())
    if (name.empty() || path.ends_with("." + name)) names.push_back(path);
  return names;
}

}  // namespace crescent::lua
