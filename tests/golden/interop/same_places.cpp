// Loads the .keras and .weights.h5 files that Keras 3 wrote, writes them again and compares them:
// every object must have the same path and name, and every variable the same number, dtype and
// shape.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "golden/recorded.h"
#include "keras_file.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

namespace fs = std::filesystem;
using hdf5::KerasFile;

/// Whether the path belongs to an object without variables that Keras' layers have and Crescent's
/// do not.
bool is_left_out(const std::string& place) {
  return place.ends_with("/_dropout_layer/vars") || place.ends_with("/_softmax/vars");
}

/// Operations on tensors that Crescent loads as layers; Keras saves nothing for them.
const std::map<std::string, std::string> kOperations = {
    {"interop/k3/d05_ops_concat", "layers/concatenate/vars"},
    {"interop/k3/d09_ops_sub", "layers/subtract/vars"},
    {"interop/k3/d15_ops_mul_broadcast", "layers/multiply/vars"}};

struct Object {
  std::string name;
  std::vector<TensorSpec> variables;
};
using Places = std::map<std::string, Object>;

void collect(KerasFile& file, const std::string& group, Places& places) {
  for (const std::string& member : file.members(group).value_or(keras::Names{})) {
    if (member.starts_with("crescent")) continue;
    const std::string path = group.empty() ? member : group + "/" + member;
    if (member != "vars") {
      collect(file, path, places);
      continue;
    }
    keras::Names variables;
    for (size_t i = 0; i < file.members(path)->size(); ++i)
      variables.push_back(concat(path, "/", i));
    places[path] = {file.text(path, "name").value_or(""), file.describe(variables)};
  }
}

Places places_in(const std::string& path) {
  KerasFile file(path);
  Places places;
  collect(file, "", places);
  return places;
}

void compare(const Places& ours, const Places& keras, const std::string& name, bool optimizer) {
  for (const auto& [place, object] : keras) {
    if (is_left_out(place) || (place == "optimizer/vars" && !optimizer)) continue;
    INFO(name << ": " << place);
    const auto own_entry = ours.find(place);
    if (own_entry == ours.end()) {
      FAIL_CHECK("not written");
      continue;
    }
    CHECK(own_entry->second.name == object.name);
    CHECK(own_entry->second.variables == object.variables);
  }
  const auto operation = kOperations.find(name);
  for (const auto& [place, object] : ours) {
    const bool expected = operation != kOperations.end() && operation->second == place;
    if (!keras.contains(place) && !expected) FAIL_CHECK(name << ": " << place << " is written");
  }
}

std::string warning_text;  // NOLINT: set by the warning handler

ModelPtr load_quietly(const std::string& path) {
  warning_text.clear();
  set_warning_handler([](std::string_view text) { warning_text += text; });
  ModelPtr model;
  try {
    model = load_model(path);
  } catch (const Error&) {
  }
  set_warning_handler(nullptr);
  return model;
}

/// A temporary copy of a file.
class Copy {
 public:
  explicit Copy(const std::string& ending)
      : path_((fs::temp_directory_path() / concat("places-", getpid(), ending)).string()) {}
  ~Copy() { fs::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void check_archive(const std::string& base, const std::string& name, Tally& tally) {
  const ModelPtr model = load_quietly(base + ".keras");
  if (!model) return tally.skipped(name + ".keras");
  const Copy copy(".keras");
  save_model(*model, copy.path());
  compare(places_in(copy.path()), places_in(base + ".keras"), name, warning_text.empty());
  tally.compared();
}

void check_weights(const std::string& base, const std::string& name, Tally& tally) {
  const ModelPtr model = load_quietly(base + ".h5");
  if (!model) return tally.skipped(name + ".weights.h5");
  const bool compiled = model->compiled() && warning_text.empty();
  load_weights(*model, base + ".weights.h5");
  const Copy copy(".weights.h5");
  save_weights(*model, copy.path());
  compare(places_in(copy.path()), places_in(base + ".weights.h5"), name, compiled);
  tally.compared();
}

/// Files that need classes or code that are not available here.
const std::set<std::string> kMissingPlaces = {"interop/k3/c20_lambda.keras",
                                              "interop/k3/c20_lambda.weights.h5"};

}  // namespace

TEST_CASE("objects and variables are where Keras 3 has them") {
  if (source() == Source::own || !is_there(folder())) return;
  Tally tally(kMissingPlaces);
  std::set<std::string> bases;
  for (const fs::path& path : files_of_models())
    if (path.extension() == ".keras")
      bases.insert(path.string().substr(0, path.string().size() - 6));
  for (const std::string& base : bases) {
    const std::string name = fs::relative(base, folder()).string();
    check_archive(base, name, tally);
    if (fs::exists(base + ".weights.h5")) check_weights(base, name, tally);
  }
  tally.check();
}
