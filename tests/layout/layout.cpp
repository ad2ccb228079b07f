// The floors of the code, kept by reading #include lines: arrows point down only. The outer walls
// (plugins see public headers alone) are CMake's; they are checked here too, where they are cheap to name.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = CRESCENT_SOURCE_DIR;

// Lowest first. A public header stands on the floor of what it declares.
const std::vector<std::string> kFloors = {"base", "registry", "tensor", "program", "layer", "model"};
const std::map<std::string, std::string> kHeaderFloors = {
    {"export.h", "base"},     {"error.h", "base"},     {"value.h", "base"},       {"schema.h", "registry"},
    {"registry.h", "registry"}, {"tensor.h", "tensor"}, {"random.h", "program"},   {"ops.h", "program"},      {"op.h", "program"},      {"op_types.h", "program"},
    {"gradient.h", "program"}, {"program.h", "program"}, {"device.h", "program"},  {"variable.h", "program"},
    {"input_spec.h", "layer"}, {"layer.h", "layer"},    {"node.h", "layer"},       {"model.h", "model"},
    {"training.h", "model"},  {"callback.h", "model"}, {"data.h", "model"},       {"format.h", "model"},
    {"plugin.h", "model"},    {"crescent.h", "model"}};

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
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") files.push_back(entry.path());
  return files;
}

int floor_number(const std::string& name) {
  auto at = std::find(kFloors.begin(), kFloors.end(), name);
  return at == kFloors.end() ? -1 : int(at - kFloors.begin());
}

// -1 for what is neither a public header nor a folder of core/src.
int floor_of_include(const std::string& name, int own_floor) {
  if (name.rfind("crescent/", 0) == 0) {
    auto header = kHeaderFloors.find(name.substr(9));
    return header == kHeaderFloors.end() ? -1 : floor_number(header->second);
  }
  size_t slash = name.find('/');
  return slash == std::string::npos ? own_floor : floor_number(name.substr(0, slash));
}

void check_floor(const fs::path& file, int own_floor) {
  for (const Include& include : includes_of(file)) {
    if (!include.quoted) continue;
    int floor = floor_of_include(include.name, own_floor);
    INFO(fs::relative(file, kRoot).string() << " includes " << include.name);
    REQUIRE(floor >= 0);
    CHECK(floor <= own_floor);
  }
}

}  // namespace

TEST_CASE("Every public header has a floor and includes nothing above it") {
  for (const fs::path& file : sources_below(kRoot / "core/include/crescent")) {
    auto header = kHeaderFloors.find(file.filename().string());
    INFO(file.filename().string());
    REQUIRE(header != kHeaderFloors.end());
    check_floor(file, floor_number(header->second));
  }
}

TEST_CASE("Sources of core include nothing above their floor") {
  for (const fs::path& file : sources_below(kRoot / "core/src")) {
    int floor = floor_number(fs::relative(file, kRoot / "core/src").begin()->string());
    INFO(file.string());
    REQUIRE(floor >= 0);
    check_floor(file, floor);
  }
}

TEST_CASE("Public headers show the standard library alone") {
  const std::vector<std::string> slow = {"sstream", "iostream", "regex", "map", "functional"};
  for (const fs::path& file : sources_below(kRoot / "core/include"))
    for (const Include& include : includes_of(file)) {
      if (include.quoted) continue;
      INFO(file.filename().string() << " includes <" << include.name << ">");
      CHECK(include.name.find_first_of("./") == std::string::npos);  // <boost/json.hpp>, <lua.hpp>, <cblas.h>
      CHECK(std::find(slow.begin(), slow.end(), include.name) == slow.end());
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
