// The floors of the code, kept by reading #include lines: arrows point down only. The outer walls
// (plugins see public headers alone) are CMake's; they are checked here too, where they are cheap
// to name.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = fs::weakly_canonical(CRESCENT_SOURCE_DIR);

// Lowest first. A public header stands on the floor of what it declares.
const std::vector<std::string> kFloors = {"base",  "registry", "tensor", "program",
                                          "layer", "data",     "model"};
const std::map<std::string, std::set<std::string>> kHeaders = {
    {"base",
     {"error.h", "export.h", "file.h", "interrupt.h", "mapped.h", "pattern.h", "process.h",
      "progress.h", "structure.h", "thread.h", "value.h"}},
    {"registry", {"codec.h", "loader.h", "registry.h", "schema.h", "stamp.h"}},
    {"program",
     {"communicator.h", "cpu_kernel.h", "device.h", "elementwise_ops.h", "gradient.h",
      "lowered_ops.h", "lowering.h", "op.h", "op_types.h", "ops.h", "program.h", "random.h",
      "variable.h"}},
    {"tensor", {"strings.h", "tensor.h"}},
    {"layer", {"input_spec.h", "layer.h", "node.h", "training.h"}},
    {"model",
     {"callback.h", "crescent.h", "format.h", "model.h", "operation.h", "plugin.h", "rewire.h",
      "steps.h", "training_run.h"}},
    {"data", {"data.h", "stream.h"}}};

struct Include {
  std::string name;
  bool quoted;
};

std::vector<Include> includes_of(const fs::path& file) {
  std::vector<Include> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("#include ", 0) != 0) continue;
    size_t open = line.find_first_of("<\""), close = line.find_first_of(">\"", open + 1);
    found.push_back({line.substr(open + 1, close - open - 1), line[open] == '"'});
  }
  return found;
}

std::vector<fs::path> sources_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
      files.push_back(entry.path());
  return files;
}

// A model is trained by its own methods, a program is lowered as it is compiled, and streams are
// data: rooms of one floor.
const std::map<std::string, std::string> kRooms = {
    {"training", "model"}, {"validation", "model"}, {"lowering", "program"}, {"streams", "data"}};

int floor_number(const std::string& name) {
  auto room = kRooms.find(name);
  auto at = std::find(kFloors.begin(), kFloors.end(), room == kRooms.end() ? name : room->second);
  return at == kFloors.end() ? -1 : int(at - kFloors.begin());
}

// A program that a floor starts stands on it.
const std::map<std::string, std::string> kProgramFloors = {{"trial", "registry"}};

int floor_of(const fs::path& file) {
  const fs::path folder = *fs::relative(file, kRoot / "core").begin();
  if (auto program = kProgramFloors.find(folder.string()); program != kProgramFloors.end())
    return floor_number(program->second);
  const fs::path inside = fs::relative(file, kRoot / "core/src");
  if (*inside.begin() != "..") return floor_number(inside.begin()->string());
  for (const auto& [floor, headers] : kHeaders)
    if (headers.count(file.filename().string())) return floor_number(floor);
  return -1;
}

// Public, but written by the build.
const std::set<std::string> kGenerated = {"crescent/headers_hash.h"};

// Where core finds what `file` includes; empty when nowhere.
fs::path resolve(const fs::path& file, const std::string& name) {
  for (const fs::path& folder : {file.parent_path(), kRoot / "core/src", kRoot / "core/include"})
    if (fs::exists(folder / name)) return fs::weakly_canonical(folder / name);
  return {};
}

void check_floor(const fs::path& file) {
  const int own_floor = floor_of(file);
  INFO(fs::relative(file, kRoot).string());
  REQUIRE(own_floor >= 0);
  for (const Include& include : includes_of(file)) {
    if (!include.quoted || kGenerated.count(include.name)) continue;
    INFO("includes " << include.name);
    const fs::path included = resolve(file, include.name);
    REQUIRE_FALSE(included.empty());
    CHECK(floor_of(included) >= 0);
    CHECK(floor_of(included) <= own_floor);
  }
}

}  // namespace

TEST_CASE("Every file of core stands on a floor and includes nothing above it") {
  for (const fs::path& file : sources_below(kRoot / "core")) check_floor(file);
}

TEST_CASE("Public headers show the standard library alone") {
  for (const fs::path& file : sources_below(kRoot / "core/include"))
    for (const Include& include : includes_of(file)) {
      if (include.quoted) continue;
      INFO(file.filename().string() << " includes <" << include.name << ">");
      CHECK(include.name.find_first_of("./") ==
            std::string::npos);  // <boost/json.hpp>, <lua.hpp>, <cblas.h>
    }
}

TEST_CASE("What every plugin reads is cheap to read") {
  const std::set<std::string> slow = {"sstream", "iostream", "regex", "map", "functional"};
  std::set<fs::path> seen;
  std::vector<fs::path> left = {kRoot / "core/include/crescent/plugin.h"};
  while (!left.empty()) {
    const fs::path file = left.back();
    left.pop_back();
    if (file.empty() || !seen.insert(file).second) continue;
    for (const Include& include : includes_of(file)) {
      INFO(file.filename().string() << " includes <" << include.name << ">");
      CHECK(slow.count(include.name) == 0);
      if (include.quoted) left.push_back(resolve(file, include.name));
    }
  }
}

TEST_CASE("Nothing outside core includes the inside of core") {
  for (const char* folder : {"plugins", "formats", "shell", "examples"})
    for (const fs::path& file : sources_below(kRoot / folder))
      for (const Include& include : includes_of(file)) {
        INFO(fs::relative(file, kRoot).string() << " includes " << include.name);
        CHECK(include.name.find("core/src") == std::string::npos);
        CHECK_FALSE((include.quoted && !fs::exists(file.parent_path() / include.name) &&
                     fs::exists(kRoot / "core/src" / include.name)));
      }
}

TEST_CASE("What formats share knows none of them") {
  for (const fs::path& file : sources_below(kRoot / "formats/keras"))
    for (const Include& include : includes_of(file)) {
      INFO(fs::relative(file, kRoot).string() << " includes " << include.name);
      if (include.quoted)
        CHECK((include.name.starts_with("crescent/") || include.name.starts_with("keras/")));
      CHECK_FALSE((include.name == "hdf5.h" || include.name == "zip.h"));
    }
}

namespace {

// The rooms of the Lua module, lowest first. module.cpp is above them all.
const std::vector<std::string> kModuleRooms = {"lua",     "values",  "instances", "workers",
                                               "images",  "classes", "tensors",   "data",
                                               "library", "models"};
const fs::path kModule = kRoot / "shell/module";

// A unit is a header and its source: "values/convert".
std::string unit_of(const fs::path& file) {
  return fs::relative(file, kModule).replace_extension().string();
}

int room_of(const std::string& unit) {
  const std::string room = fs::path(unit).begin()->string();
  return int(std::find(kModuleRooms.begin(), kModuleRooms.end(), room) - kModuleRooms.begin());
}

// What each unit of the module includes of the others.
std::map<std::string, std::set<std::string>> units_of_module() {
  std::map<std::string, std::set<std::string>> units;
  for (const fs::path& file : sources_below(kModule)) {
    const std::string unit = unit_of(file);
    std::set<std::string>& included = units[unit];
    for (const Include& include : includes_of(file))
      if (include.quoted && fs::exists(kModule / include.name))
        included.insert(unit_of(kModule / include.name));
    included.erase(unit);
  }
  return units;
}

}  // namespace

TEST_CASE("The rooms of the Lua module include what is below them") {
  const auto units = units_of_module();
  REQUIRE(units.size() > 30);
  for (const auto& [unit, included] : units)
    for (const std::string& other : included) {
      INFO(unit << " includes " << other);
      CHECK(room_of(other) <= room_of(unit));
    }
  for (const std::string& room : kModuleRooms) CHECK(fs::exists(kModule / room));
}

TEST_CASE("No units of the Lua module include each other, whichever way round") {
  auto units = units_of_module();
  // Those whose includes are all gone go, too; a circle stays.
  for (bool some = true; some;) {
    some = false;
    for (auto unit = units.begin(); unit != units.end();) {
      const std::set<std::string>& included = unit->second;
      const bool is_free = std::none_of(included.begin(), included.end(),
                                        [&](const auto& other) { return units.count(other) > 0; });
      some = some || is_free;
      unit = is_free ? units.erase(unit) : std::next(unit);
    }
  }
  for (const auto& [unit, included] : units) FAIL_CHECK(unit << " is in a circle of includes");
  CHECK(units.empty());
}
