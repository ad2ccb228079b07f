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
bool is_left_out(const std::string& object_path) {
  return object_path.ends_with("/_dropout_layer/vars") || object_path.ends_with("/_softmax/vars");
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
using ObjectsByPath = std::map<std::string, Object>;

void collect(KerasFile& file, const std::string& group, ObjectsByPath& objects) {
  for (const std::string& member : file.members(group).value_or(keras::Names{})) {
    if (member.starts_with("crescent")) continue;
    const std::string path = group.empty() ? member : group + "/" + member;
    if (member != "vars") {
      collect(file, path, objects);
      continue;
    }
    keras::Names variables;
    for (size_t i = 0; i < file.members(path)->size(); ++i)
      variables.push_back(concat(path, "/", i));
    objects[path] = {file.text(path, "name").value_or(""), file.describe(variables)};
  }
}

ObjectsByPath objects_in(const std::string& path) {
  KerasFile file(path);
  ObjectsByPath objects;
  collect(file, "", objects);
  return objects;
}

void compare(const ObjectsByPath& written, const ObjectsByPath& keras, const std::string& name,
             bool has_optimizer) {
  for (const auto& [object_path, object] : keras) {
    if (is_left_out(object_path) || (object_path == "optimizer/vars" && !has_optimizer)) continue;
    INFO(name << ": " << object_path);
    const auto own_entry = written.find(object_path);
    if (own_entry == written.end()) {
      FAIL_CHECK("not written");
      continue;
    }
    CHECK(own_entry->second.name == object.name);
    CHECK(own_entry->second.variables == object.variables);
  }
  const auto operation = kOperations.find(name);
  for (const auto& [object_path, object] : written) {
    const bool expected = operation != kOperations.end() && operation->second == object_path;
    if (!keras.contains(object_path) && !expected)
      FAIL_CHECK(name << ": " << object_path << " is written");
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
class TemporaryCopy {
 public:
  explicit TemporaryCopy(const std::string& ending)
      : path_((fs::temp_directory_path() / concat("places-", getpid(), ending)).string()) {}
  ~TemporaryCopy() { fs::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void check_archive(const std::string& base, const std::string& name, Tally& tally) {
  const ModelPtr model = load_quietly(base + ".keras");
  if (!model) return tally.count_skipped(name + ".keras");
  const TemporaryCopy copy(".keras");
  save_model(*model, copy.path());
  compare(objects_in(copy.path()), objects_in(base + ".keras"), name, warning_text.empty());
  tally.count_compared();
}

void check_weights(const std::string& base, const std::string& name, Tally& tally) {
  const ModelPtr model = load_quietly(base + ".h5");
  if (!model) return tally.count_skipped(name + ".weights.h5");
  const bool is_compiled = model->compiled() && warning_text.empty();
  load_weights(*model, base + ".weights.h5");
  const TemporaryCopy copy(".weights.h5");
  save_weights(*model, copy.path());
  compare(objects_in(copy.path()), objects_in(base + ".weights.h5"), name, is_compiled);
  tally.count_compared();
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
