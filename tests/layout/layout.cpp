// Checks the architecture by reading #include lines: a file may include only files of its own
// folder and of lower layers. CMake enforces that plugins see only public headers; this is checked
// here too.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = fs::weakly_canonical(CRESCENT_SOURCE_DIR);

// The folders of public headers and of core's sources, the lowest layer first. crescent.h and
// plugin.h are above all of them.
const std::vector<std::string> kHeaderFolders = {"base",    "system", "registry", "tensor",
                                                 "program", "device", "ops",      "search",
                                                 "layer",   "data",   "model",    "io"};
const std::vector<std::string> kSourceFolders = {
    "base",   "system",     "registry", "tensor", "program", "random",
    "device", "compile",    "ops",      "search", "layer",   "optimization",
    "data",   "validation", "training", "model",  "check"};

struct Include {
  std::string name;
  bool is_quoted;
};

std::vector<Include> includes_of(const fs::path& file) {
  std::vector<Include> includes;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("#include ", 0) != 0) continue;
    size_t open_position = line.find_first_of("<\""),
           close_position = line.find_first_of(">\"", open_position + 1);
    includes.push_back({line.substr(open_position + 1, close_position - open_position - 1),
                        line[open_position] == '"'});
  }
  return includes;
}

std::vector<fs::path> sources_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
      files.push_back(entry.path());
  return files;
}

// Public headers that the build generates.
const std::set<std::string> kGeneratedHeaders = {"crescent/headers_hash.h"};

/// The file that an include of `file` refers to: relative to the file, or to an include folder of
/// its part of the tree. Empty if it is in neither.
fs::path resolve(const fs::path& file, const std::string& name) {
  std::vector<fs::path> folders = {file.parent_path()};
  for (const char* folder : {"core/src", "plugins/cpu", "formats/hdf5/src", "formats",
                             "shell/module", "shell/program", "shell", "core/include"})
    if (const std::string inside = fs::relative(file, kRoot / folder).string();
        !inside.starts_with("..") || std::string_view(folder) == "core/include")
      folders.push_back(kRoot / folder);
  for (const fs::path& folder : folders)
    if (fs::exists(folder / name)) return fs::weakly_canonical(folder / name);
  return {};
}

/// The index in the list of the folder below `root` that contains the file; -1 if none does.
int folder_number(const fs::path& file, const fs::path& root,
                  const std::vector<std::string>& ordered_folders) {
  const fs::path relative_path = fs::relative(file, root);
  const auto folder =
      std::find(ordered_folders.begin(), ordered_folders.end(), relative_path.begin()->string());
  return folder == ordered_folders.end() ? -1 : int(folder - ordered_folders.begin());
}

/// Fails for files below `root` that are in no listed folder, or that include a file of a higher
/// folder.
void check_folders(const fs::path& root, const std::vector<std::string>& ordered_folders) {
  for (const fs::path& file : sources_below(root)) {
    if (file.parent_path() == root) continue;
    INFO(fs::relative(file, kRoot).string());
    REQUIRE(folder_number(file, root, ordered_folders) >= 0);
    for (const Include& include : includes_of(file)) {
      if (!include.is_quoted || kGeneratedHeaders.count(include.name)) continue;
      INFO("includes " << include.name);
      const fs::path included = resolve(file, include.name);
      REQUIRE_FALSE(included.empty());
      if (fs::relative(included, root).string().starts_with("..")) continue;
      CHECK(folder_number(included, root, ordered_folders) >= 0);
      CHECK(folder_number(included, root, ordered_folders) <=
            folder_number(file, root, ordered_folders));
    }
  }
}

// A graph of includes: for each folder (or each unit, see unit_of()), the folders (or units) whose
// files it includes.
using Includes = std::map<std::string, std::set<std::string>>;

Includes includes_of_folders() {
  Includes folders;
  for (const char* part : {"core", "plugins", "formats", "shell", "tests"})
    for (const fs::path& file : sources_below(kRoot / part)) {
      const std::string folder = fs::relative(file.parent_path(), kRoot).string();
      for (const Include& include : includes_of(file)) {
        const fs::path included = include.is_quoted ? resolve(file, include.name) : fs::path();
        if (!included.empty())
          folders[folder].insert(fs::relative(included.parent_path(), kRoot).string());
      }
      folders[folder].erase(folder);
    }
  return folders;
}

/// Fails if folders include each other in a circle: folders that include none of the remaining ones
/// are removed until only circles are left.
void check_no_circles(Includes includes_by_folder) {
  for (bool has_removed = true; has_removed;) {
    has_removed = false;
    for (auto entry = includes_by_folder.begin(); entry != includes_by_folder.end();) {
      const bool includes_no_other = std::none_of(
          entry->second.begin(), entry->second.end(), [&](const auto& included_folder) {
            return includes_by_folder.count(included_folder) > 0;
          });
      has_removed = has_removed || includes_no_other;
      entry = includes_no_other ? includes_by_folder.erase(entry) : std::next(entry);
    }
  }
  for (const auto& [name, included_folders] : includes_by_folder)
    FAIL_CHECK(name << " is in a circle of includes");
}

}  // namespace

TEST_CASE("Every file of core is in a listed folder and includes nothing of a folder above it") {
  check_folders(kRoot / "core/include/crescent", kHeaderFolders);
  check_folders(kRoot / "core/src", kSourceFolders);
}

TEST_CASE("No folders include each other in a circle") {
  const Includes folders = includes_of_folders();
  REQUIRE(folders.size() > 100);
  check_no_circles(folders);
}

TEST_CASE("crescent.h brings users nothing of devices") {
  for (const Include& include : includes_of(kRoot / "core/include/crescent/crescent.h"))
    CHECK_FALSE(include.name.starts_with("crescent/device/"));
}

TEST_CASE("crescent.h has every public header that is not for authors of devices alone") {
  const fs::path root = kRoot / "core/include";
  std::set<fs::path> reached_headers{root / "crescent/crescent.h"};
  for (std::vector<fs::path> pending_headers{*reached_headers.begin()}; !pending_headers.empty();) {
    const fs::path file = pending_headers.back();
    pending_headers.pop_back();
    for (const Include& include : includes_of(file))
      if (include.is_quoted && fs::exists(root / include.name) &&
          reached_headers.insert(root / include.name).second)
        pending_headers.push_back(root / include.name);
  }
  const std::set<std::string> included_separately = {"numpy_random.h", "pattern.h",  "progress.h",
                                                     "thread.h",       "terminal.h", "crash.h",
                                                     "user_folder.h"};
  for (const fs::path& file : sources_below(root / "crescent")) {
    if (file.parent_path().filename() == "device") continue;
    INFO(fs::relative(file, root).string());
    CHECK(reached_headers.count(file) + included_separately.count(file.filename().string()) == 1);
  }
}

TEST_CASE("Every public header has a forward by its name alone") {
  for (const fs::path& file : sources_below(kRoot / "core/include/crescent")) {
    const std::string relative_path = fs::relative(file, kRoot / "core/include").string();
    if (file.parent_path().filename() == "crescent" || file.parent_path().filename() == "system")
      continue;
    INFO(relative_path);
    const auto forwarded_includes =
        includes_of(kRoot / "core/include/forwards/crescent" / file.filename());
    REQUIRE(forwarded_includes.size() == 1);
    CHECK(forwarded_includes[0].name == relative_path);
  }
}

TEST_CASE("Public headers show the standard library alone") {
  for (const fs::path& file : sources_below(kRoot / "core/include"))
    for (const Include& include : includes_of(file)) {
      if (include.is_quoted) continue;
      INFO(file.filename().string() << " includes <" << include.name << ">");
      // The C interface includes these two headers.
      if (include.name == "stddef.h" || include.name == "stdint.h") continue;
      // Names of library headers such as <boost/json.hpp> and <lua.hpp> contain '/' or '.'.
      CHECK(include.name.find_first_of("./") == std::string::npos);
    }
}

TEST_CASE("What every plugin reads is cheap to read") {
  const std::set<std::string> slow_headers = {"sstream", "iostream", "regex", "map", "functional"};
  std::set<fs::path> visited_files;
  std::vector<fs::path> pending_files = {kRoot / "core/include/crescent/plugin.h"};
  while (!pending_files.empty()) {
    const fs::path file = pending_files.back();
    pending_files.pop_back();
    if (file.empty() || !visited_files.insert(file).second) continue;
    for (const Include& include : includes_of(file)) {
      INFO(file.filename().string() << " includes <" << include.name << ">");
      CHECK(slow_headers.count(include.name) == 0);
      if (include.is_quoted) pending_files.push_back(resolve(file, include.name));
    }
  }
}

TEST_CASE("Nothing outside core includes the inside of core") {
  for (const char* folder : {"plugins", "formats", "shell", "examples"})
    for (const fs::path& file : sources_below(kRoot / folder))
      for (const Include& include : includes_of(file)) {
        INFO(fs::relative(file, kRoot).string() << " includes " << include.name);
        CHECK(include.name.find("core/src") == std::string::npos);
        CHECK_FALSE((include.is_quoted && !fs::exists(file.parent_path() / include.name) &&
                     fs::exists(kRoot / "core/src" / include.name)));
      }
}

namespace {

/// The type that a line begins to declare, without its enclosing scope; empty if it declares none.
std::string declared_type(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "class" && word != "struct" && word != "enum" && word != "using") return "";
  while (words >> word && (word == "class" || word == "CRESCENT_API")) continue;
  const size_t nested = word.rfind("::");
  if (nested != word.npos) word.erase(0, nested + 2);
  return word.substr(0, word.find_first_of(":;<{"));
}

// Plain words that must not be names of types, because types are named by terms of the field.
const std::set<std::string> kPlainWords = {"Run",   "Part", "Row",      "Work",  "Place",
                                           "Given", "Kept", "Together", "Guest", "Follower"};

}  // namespace

TEST_CASE("No type is named by a word that is no term") {
  size_t types = 0;
  for (const char* folder : {"core", "plugins", "shell", "formats"})
    for (const fs::path& file : sources_below(kRoot / folder)) {
      std::ifstream in(file);
      for (std::string line; std::getline(in, line);) {
        const std::string name = declared_type(line);
        types += !name.empty();
        if (kPlainWords.count(name))
          FAIL_CHECK(fs::relative(file, kRoot).string() << " declares a type '" << name << "'");
      }
    }
  CHECK(types > 1000);
}

TEST_CASE("What formats share knows none of them") {
  const std::map<std::string, std::set<std::string>> kMayInclude = {
      {"files", {"crescent", "files"}}, {"keras", {"crescent", "files", "keras"}}};
  for (const auto& [library, allowed_folders] : kMayInclude)
    for (const fs::path& file : sources_below(kRoot / "formats" / library))
      for (const Include& include : includes_of(file)) {
        INFO(fs::relative(file, kRoot).string() << " includes " << include.name);
        if (include.is_quoted)
          CHECK(allowed_folders.count(fs::path(include.name).begin()->string()));
        CHECK_FALSE((include.name == "hdf5.h" || include.name == "zip.h"));
      }
}

TEST_CASE("No plugin compiles sources of another folder") {
  for (const char* folder : {"plugins", "formats"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().filename() != "CMakeLists.txt") continue;
      std::ifstream in(entry.path());
      const std::string text(std::istreambuf_iterator<char>(in), {});
      for (size_t at = 0; (at = text.find("../", at)) != text.npos; ++at) {
        const std::string name = text.substr(at, text.find_first_of(" )\n", at) - at);
        INFO(fs::relative(entry.path(), kRoot).string() << " names " << name);
        CHECK_FALSE(name.ends_with(".cpp"));
      }
    }
}

namespace {

// The folders of the Lua module, the lowest layer first. module.cpp is above all of them.
const std::vector<std::string> kModuleFolders = {"lua",     "values",     "instances", "workers",
                                                 "images",  "classes",    "tensors",   "data",
                                                 "library", "background", "training",  "models"};
const fs::path kModule = kRoot / "shell/module";

// The unit of a file: the common name of a header and its source, such as "values/convert".
std::string unit_of(const fs::path& file) {
  return fs::relative(file, kModule).replace_extension().string();
}

int folder_of(const std::string& unit) {
  const std::string folder = fs::path(unit).begin()->string();
  return int(std::find(kModuleFolders.begin(), kModuleFolders.end(), folder) -
             kModuleFolders.begin());
}

// For each unit of the module, the other units that it includes.
Includes units_of_module() {
  Includes units;
  for (const fs::path& file : sources_below(kModule)) {
    const std::string unit = unit_of(file);
    std::set<std::string>& included_units = units[unit];
    for (const Include& include : includes_of(file))
      if (include.is_quoted && fs::exists(kModule / include.name))
        included_units.insert(unit_of(kModule / include.name));
    included_units.erase(unit);
  }
  return units;
}

}  // namespace

TEST_CASE("The folders of the Lua module include what is below them") {
  const auto units = units_of_module();
  REQUIRE(units.size() > 30);
  for (const auto& [unit, included_units] : units)
    for (const std::string& included_unit : included_units) {
      INFO(unit << " includes " << included_unit);
      CHECK(folder_of(included_unit) <= folder_of(unit));
    }
  for (const std::string& folder : kModuleFolders) CHECK(fs::exists(kModule / folder));
}

TEST_CASE("No units of the Lua module include each other, whichever way round") {
  check_no_circles(units_of_module());
}
