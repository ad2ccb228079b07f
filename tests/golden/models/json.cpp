// model_from_json must read the JSON of every model that Keras wrote, if the model's classes exist.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "crescent/system/file.h"
#include "golden/recorded.h"
#include "golden/same_json.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

namespace fs = std::filesystem;

/// Configurations that cannot be read, because a class is missing or they contain code, which is
/// never run.
const std::set<std::string> kMissingConfigs = {"interop/k3/c20_lambda.h5: Lambda",
                                               "interop/k3/c20_lambda.json: Lambda"};

/// The result of to_json of the version of Keras that saved the file.
std::optional<std::string> json_in(const std::string& path) {
  const Recording file(path);
  const auto config = file.text_if_any("/", "model_config");
  if (!config) return std::nullopt;
  Value json = parse_json(*config);
  for (const char* name : {"keras_version", "backend"})
    if (const auto text = file.text_if_any("/", name)) json.as_dict().set(name, *text);
  return to_json(json);
}

/// The name of the missing layer, such as "SeparableConv2D"; if the message names none, the message
/// itself.
std::string missing_layer(const std::string& message) {
  const std::string unknown = "Unknown layer: ";
  const size_t start = message.find(unknown);
  if (start == message.npos) return message;
  const size_t name_begin = start + unknown.size();
  return message.substr(name_begin, message.find_first_of(" (", name_begin) - name_begin);
}

std::vector<std::string> weights_of(const Model& model) {
  std::vector<std::string> weights;
  for (const Variable& weight : model.weights())
    weights.push_back(concat(weight.path(), " ", weight.shape()));
  return weights;
}

/// Checks that the model can be written, and that reading it again gives the same weights and the
/// same text.
void check_writing(const Model& model, const std::string& target) {
  INFO(target);
  const ModelPtr reread_model = model_from_json(model.to_json({{"target", target}}));
  CHECK(weights_of(*reread_model) == weights_of(model));
  const std::string json = reread_model->to_json({{"target", target}});
  CHECK(model_from_json(json)->to_json({{"target", target}}) == json);
}

/// Checks that writing a model for a version of Keras fails exactly for the models that this
/// version cannot express.
void check_writing_for_keras(const Model& model, const std::string& target) {
  try {
    check_writing(model, target);
  } catch (const Error& error) {
    CHECK_THAT(error.what(),
               Catch::StartsWith(target == "keras2" ? "Keras 2 cannot express"
                                                    : "Keras 3 lacks this, or computes"));
  }
}

void check_writing(const Model& model) {
  const std::string json = model.to_json({{"target", "crescent"}});
  CHECK(json == to_json(model_config(model)));
  check_writing(model, "crescent");
  check_writing_for_keras(model, "keras2");
  check_writing_for_keras(model, "keras3");
}

void check_json(const std::string& file_name, const std::string& json, Tally& tally) {
  INFO(file_name);
  try {
    check_writing(*model_from_json(json));
    tally.count_compared();
  } catch (const Error& error) {
    tally.count_skipped(file_name + ": " + missing_layer(error.what()));
  }
}

}  // namespace

TEST_CASE("the JSON of every model that Keras wrote becomes a model") {
  if (!is_there(folder())) return;
  Tally tally(kMissingConfigs);
  for (const fs::path& path : files_of_models()) {
    const std::string file_name = fs::relative(path, folder()).string();
    const bool is_json = file_name.ends_with(".json") || file_name.ends_with(".json.gz");
    if (is_json && path.parent_path() != folder())
      check_json(file_name, read_file_unpacked(path), tally);
    else if (file_name.ends_with(".h5") && !file_name.ends_with("ops.h5"))
      if (const auto text = json_in(path)) check_json(file_name, *text, tally);
  }
  tally.check();
}

// ---- comparing written models with those of Keras

/// Files with operations that only compute a mask, which Crescent passes on automatically.
const std::set<std::string> kReadOtherwise = {"c16_masked_mha.json",
                                              "d01_emb_lstm_functional.json"};

TEST_CASE("what Keras 3 wrote is written again as it was") {
  const std::string interop = folder() + "/interop/k3";
  if (source() == Source::own || !is_there(interop)) return;
  for (const std::string& name : files_ending(interop, ".json")) {
    if (kReadOtherwise.contains(name)) continue;
    const Value keras = parse_json(read_file_unpacked(interop + "/" + name));
    ModelPtr model;
    try {
      model = model_from_json(to_json(keras));
    } catch (const Error&) {
      continue;  // it is listed in kMissingConfigs
    }
    for (const std::string& difference : differences(parse_json(model->to_json()), keras, name))
      FAIL_CHECK(difference);
  }
}
