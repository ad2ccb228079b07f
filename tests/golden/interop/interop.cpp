// Compiled models that Keras trained for some steps and saved completely: after loading, they give
// the recorded predictions and loss, and the same next training step.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "crescent/system/file.h"
#include "golden/recorded.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

namespace fs = std::filesystem;

constexpr Tolerance kPredictions{1e-5, 1e-5}, kTrained{1e-3, 1e-3};
constexpr int64_t kBatch = 8;

/// A form in which Keras saved a model; the name of the file is `base` and an ending.
struct SavedForm {
  const char* ending;  ///< ending of the file that holds the configuration
  bool compiled;       ///< whether the file contains the state of training
  ModelPtr (*load)(const std::string& base);
};

ModelPtr load_json(const std::string& base) {
  const ModelPtr model = model_from_json(read_file_unpacked(base + ".json"));
  const std::string keras2 = base + ".w.h5";
  load_weights(*model, fs::exists(keras2) ? keras2 : base + ".weights.h5");
  return model;
}

/// Loads .weights.h5 into the model of the .h5 file, whose own weights are erased before.
ModelPtr load_keras3_weights(const std::string& base) {
  const ModelPtr model = load_model(base + ".h5");
  Variables variables = model->weights_in_keras_order();
  if (model->compiled())
    for (const Variable& state : model->optimizer()->state()) variables.push_back(state);
  for (Variable& variable : variables) variable.assign(Tensor(variable.spec()));
  load_weights(*model, base + ".weights.h5");
  return model;
}

const SavedForm kForms[] = {
    {".h5", true, [](const std::string& base) { return load_model(base + ".h5"); }},
    {".keras", true, [](const std::string& base) { return load_model(base + ".keras"); }},
    {".weights.h5", true, load_keras3_weights},
    {".json", false, load_json},
};

/// Keras 3.15 does not write the options of optimizers into these archives.
constexpr const char* kNoOptions = "but not its options";

/// Files that cannot be loaded yet; empty if all can.
const std::set<std::string> kMissing = {};

/// The recorded tensors "x1", "x2", ... for the prefix "x".
Tensors numbered_tensors(const Recording& file, const char* prefix) {
  Tensors tensors;
  for (int i = 1; file.has(concat(prefix, i)); ++i)
    tensors.push_back(file.tensor(concat(prefix, i)));
  return tensors;
}

void check_near(const Tensors& got, const Tensors& want, Tolerance tolerance) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    INFO("output " << i);
    CHECK(difference(got[i], want[i], tolerance) == "");
  }
}

Tensors first_batch(const Tensors& tensors) {
  Tensors rows;
  for (const Tensor& tensor : tensors) rows.push_back(tensor.view_rows(0, kBatch).clone());
  return rows;
}

/// The number of updates, which Keras 3 calls `iterations`; it does not count batches whose
/// gradients are only accumulated.
double update_count(const Optimizer& optimizer) {
  const Dict config = optimizer.get_config();
  const Value* steps = config.find("gradient_accumulation_steps");
  const double batches = optimizer.iterations().value().item();
  return steps && steps->is_int() ? std::floor(batches / steps->as_float()) : batches;
}

void check_training(Model& model, const Recording& io, const Tensors& x, bool are_options_known) {
  const Tensors y = numbered_tensors(io, "y");
  const std::vector<double> losses = io.tensor("loss").to_vector();
  if (!are_options_known) {
    CHECK(model.evaluate(x, y, {{"batch_size", kBatch}, {"verbose", 0}}).front().second ==
          Approx(losses[0]).epsilon(1e-4));
    return;
  }
  CHECK(update_count(*model.optimizer()) == io.tensor("it").to_vector().front());
  const Dict options{{"batch_size", kBatch}, {"verbose", 0}};
  CHECK(model.evaluate(x, y, options).front().second == Approx(losses[0]).epsilon(1e-4));
  CHECK(model.train_on_batch(first_batch(x), first_batch(y)).front().second ==
        Approx(losses[1]).epsilon(1e-4));
  check_near(model.predict(x), numbered_tensors(io, "q"), kTrained);
}

/// The class or layer that the error message names; if none is found, the message itself.
std::string missing_class(const std::string& message) {
  for (const char* start :
       {"Unknown layer: ", "Unknown class or function: ", "Unknown optimizer: ",
        "Unknown schedule: ", "model_config: Layer ", "Layer ", "model_config: "}) {
    const size_t position = message.find(start);
    if (position == message.npos) continue;
    const size_t name = position + std::string_view(start).size();
    return message.substr(name, message.find_first_of(" :(,.", name) - name);
  }
  return message;
}

std::string warning_text;  // NOLINT: set by the warning handler

/// Loads and compiles a model; returns the model or the message of the error.
std::pair<ModelPtr, std::string> load(const SavedForm& form, const std::string& base) {
  warning_text.clear();
  set_warning_handler([](std::string_view text) { warning_text += text; });
  ModelPtr model;
  std::string error_message;
  try {
    model = form.load(base);
  } catch (const Error& error) {
    error_message = error.what();
  }
  set_warning_handler(nullptr);
  const bool are_options_known = warning_text.find(kNoOptions) == warning_text.npos,
             state_lost = are_options_known && warning_text.find("Error in") != warning_text.npos;
  if (model && form.compiled && (!model->compiled() || state_lost)) error_message = warning_text;
  return {model, error_message};
}

void check_model(const SavedForm& form, const std::string& base, const std::string& file_name,
                 Tally& tally) {
  INFO(file_name);
  const auto [model, error_message] = load(form, base);
  if (!error_message.empty())
    return tally.count_skipped(file_name + ": " + missing_class(error_message));
  tally.count_compared();
  try {
    const Recording io(base + ".io.h5");
    const Tensors x = numbered_tensors(io, "x");
    check_near(model->predict(x), numbered_tensors(io, "p"), kPredictions);
    if (form.compiled)
      check_training(*model, io, x, warning_text.find(kNoOptions) == warning_text.npos);
  } catch (const Error& error) {
    FAIL_CHECK(error.what());
  }
}

/// Checks a file that Keras recorded no numbers for and that may contain code: loading is an error,
/// or gives an uncompiled model and a warning.
void check_refusal(const SavedForm& form, const std::string& base, const std::string& file_name) {
  INFO(file_name);
  const auto [model, error_message] = load(form, base);
  if (!model) CHECK_THAT(error_message, Catch::Contains("Lambda") || Catch::Contains(base));
  if (model && form.compiled && !model->compiled())
    CHECK_THAT(error_message, Catch::Contains("the model was not compiled"));
}

/// The names of all models with a configuration in the folder.
std::set<std::string> models_in(const std::string& folder) {
  std::set<std::string> names;
  for (const std::string& file : files_ending(folder, ".json"))
    names.insert(file.substr(0, file.size() - 5));
  return names;
}

}  // namespace

TEST_CASE("models of the real Keras predict, evaluate and train on as they did there") {
  const std::string interop = folder() + "/interop";
  if (!is_there(interop)) return;
  Tally tally(kMissing);
  for (const auto& entry : fs::directory_iterator(interop))
    for (const std::string& name : models_in(entry.path()))
      for (const SavedForm& form : kForms) {
        const std::string base = (entry.path() / name).string(),
                          file_name = entry.path().filename().string() + "/" + name + form.ending;
        if (!fs::exists(base + form.ending)) continue;
        if (fs::exists(base + ".io.h5"))
          check_model(form, base, file_name, tally);
        else
          check_refusal(form, base, file_name);
      }
  tally.check();
}
