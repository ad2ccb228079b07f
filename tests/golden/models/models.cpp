// Whole models that Keras saved: every NAME.h5 with a NAME.io.h5 beside it, and NAME.keras and
// NAME.weights.h5 if they exist, must load and give the recorded predictions; the training runs
// train_NAME.h5 must give Keras' losses, metrics and final weights.
#include <catch2/catch.hpp>
#include <filesystem>

#include "golden/recorded.h"
#include "keras/configs/config_in.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

namespace fs = std::filesystem;

/// Collects the class names in a configuration that no plugin registers.
void collect_unknown(const Value& value, std::vector<std::string>& missing_names) {
  if (value.is_list())
    for (const Value& item : value.as_list()) collect_unknown(item, missing_names);
  if (!value.is_dict()) return;
  const Dict& dict = value.as_dict();
  const Value *name = dict.find("class_name"), *config = dict.find("config");
  const bool is_layer = name && name->is_string() && config && config->is_dict() &&
                        config->as_dict().contains("name") &&
                        config->as_dict().contains("trainable");
  if (is_layer && !is_registered("layer", name->as_string()))
    missing_names.push_back(name->as_string());
  for (const auto& entry : dict) collect_unknown(entry.value, missing_names);
}

std::vector<std::string> missing_classes(const std::string& path) {
  std::vector<std::string> missing_names;
  const std::optional<std::string> config = Recording(path).text_if_any("/", "model_config");
  if (config) collect_unknown(parse_json(*config), missing_names);
  return missing_names;
}

void check_predictions(const std::string& model_path, const std::string& io_path,
                       const std::string& weights = "") {
  const ModelPtr model = load_model(model_path);
  if (!weights.empty()) {
    for (Variable variable : model->weights_in_keras_order())
      variable.assign(Tensor(variable.spec()));
    load_weights(*model, weights);
  }
  const Recording io(io_path);
  const Tensors wanted = io.tensors("outputs"), got = model->predict(io.tensors("inputs"));
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO(model_path << ", outputs/" << i);
    CHECK(difference(got[i], wanted[i], kValues) == "");
  }
}

/// Folders of recorded cases, and the files in them that cannot be compared because a class or the
/// format is missing.
const std::set<std::string> kFolders = {"keras231", "keras231tf", "models", "oldkeras", "tiny"};
const std::set<std::string> kMissing = {};

void check_folder(const std::string& folder, Tally& tally) {
  for (const std::string& io : files_ending(folder, ".io.h5")) {
    const std::string name = io.substr(0, io.size() - 6), path = folder + "/" + name + ".h5";
    const std::string file_name = fs::path(folder).filename().string() + "/" + name;
    // Files with a .json.gz are tested by applications.cpp.
    if (fs::exists(folder + "/" + name + ".json.gz")) continue;
    INFO(path);
    try {
      const std::vector<std::string> missing_names =
          fs::exists(path) ? missing_classes(path) : std::vector<std::string>{"no HDF5 file"};
      if (!missing_names.empty()) {
        tally.count_skipped(file_name + ": " + missing_names.front());
        continue;
      }
      const std::string base = folder + "/" + name;
      check_predictions(path, folder + "/" + io);
      if (fs::exists(base + ".keras")) check_predictions(base + ".keras", folder + "/" + io);
      if (fs::exists(base + ".weights.h5"))
        check_predictions(path, folder + "/" + io, base + ".weights.h5");
      tally.count_compared();
    } catch (const Error& error) {
      FAIL_CHECK(path << ": " << error.what());
    }
  }
}

void check_values(const std::vector<double>& got, const std::vector<double>& wanted,
                  const std::string& name) {
  REQUIRE(got.size() == wanted.size());
  for (size_t epoch = 0; epoch < wanted.size(); ++epoch) {
    INFO("history/" << name << " of epoch " << epoch);
    CHECK(got[epoch] == Approx(wanted[epoch]).epsilon(1e-4));
  }
}

/// Compares the history; the elements of a metric with several values are recorded as NAME[0],
/// NAME[1], ...
void check_history(const History& history, const Recording& file) {
  for (const std::string& name : file.names("history")) {
    const Tensor wanted = file.tensor("history/" + name);
    if (wanted.rank() == 1) check_values(history.at(name), wanted.to_vector(), name);
    for (int64_t i = 0; wanted.rank() == 2 && i < wanted.dim(1); ++i) {
      const std::string element_name = concat(name, "[", i, "]");
      check_values(history.at(element_name),
                   ops::gather(wanted, Tensor::scalar(i, DType::int64), 1).to_vector(),
                   element_name);
    }
  }
}

/// The recorded options of fit, including the sample and class weights.
Dict fit_options(const Recording& file) {
  Dict options = file.json("/", "fit").as_dict();
  options.set("shuffle", false);
  options.set("verbose", 0);
  if (file.has("sample_weight"))
    options.set("sample_weight", std::make_shared<BoxedTensor>(file.tensor("sample_weight")));
  if (file.has("class_weight")) {
    List weights;
    for (double weight : file.tensor("class_weight").to_vector()) weights.push_back(weight);
    options.set("class_weight", std::move(weights));
  }
  return options;
}

void check_training(const std::string& path, bool eagerly) {
  const Recording file(path);
  const std::string version = file.text_if_any("/", "keras_version").value_or("3");
  const keras::ConfigIn reader({version, "torch"});
  const ModelPtr model = model_from_config(reader.model(file.json("/", "model")));
  const Tensor x = file.tensor("x"), y = file.tensor("y");
  if (!model->built()) model->build_for({x.shape()});
  model->set_weights(file.tensors("before"));
  const Value compile_config = file.json("/", "compile");
  Dict training_config{{"optimizer_config", *compile_config.as_dict().find("optimizer")}};
  for (const char* key : {"loss", "loss_weights", "metrics", "weighted_metrics"})
    if (const Value* value = compile_config.as_dict().find(key)) training_config.set(key, *value);
  Dict options = reader.compile_options(training_config);
  options.set("run_eagerly", eagerly);
  model->compile(options);
  check_history(*model->fit({x}, {y}, fit_options(file)), file);
  const Tensors weights_after = file.tensors("after"), got = model->get_weights();
  REQUIRE(got.size() == weights_after.size());
  for (size_t i = 0; i < weights_after.size(); ++i) {
    INFO(path << ", after/" << i);
    CHECK(difference(got[i], weights_after[i], {0, 1e-3}) == "");
  }
}

}  // namespace

TEST_CASE("models that Keras saved predict what Keras predicted") {
  if (!is_there(folder())) return;
  Tally tally(kMissing);
  check_folder(folder(), tally);
  for (const auto& entry : fs::directory_iterator(folder()))
    if (entry.is_directory()) check_folder(entry.path(), tally);
  if (source() == Source::recorded)
    for (const std::string& name : kFolders) is_there(folder() + "/" + name);
  tally.check();
}

TEST_CASE("training follows Keras' losses, metrics and final weights") {
  const std::string models = folder() + "/models";
  if (source() != Source::own && !is_there(models)) return;
  Tally tally;
  for (const std::string& name : files_ending(models, ".h5")) {
    if (!name.starts_with("train_")) continue;
    for (const bool eagerly : {false, true}) {
      INFO(name << (eagerly ? ", eager" : ", compiled"));
      check_training(models + "/" + name, eagerly);
    }
    tally.count_compared();
  }
  if (source() == Source::recorded) tally.check();
}
