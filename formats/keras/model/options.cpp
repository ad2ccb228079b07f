#include "keras/model/options.h"

#include <map>
#include <mutex>

namespace crescent::keras {
namespace {

constexpr const char* kOverwrite = "Replace a file that is there.";

/// The schema of Options with the title `title`. It is made once and stored, so that all formats
/// share it and its address stays the same.
template <class Options>
const SchemaData& titled_schema(const std::string& title) {
  static std::mutex mutex;
  static std::map<std::string, SchemaData> schemas;
  const std::lock_guard lock(mutex);
  auto found = schemas.find(title);
  if (found == schemas.end()) {
    const Options defaults{};
    Schema<Options> schema(title, &defaults);
    Options::describe(schema);
    found = schemas.emplace(title, schema.data()).first;
  }
  return found->second;
}

}  // namespace

void SaveOptions::describe(Schema<SaveOptions>& s) {
  s.doc("How a model is written.")
      .field("overwrite", &SaveOptions::overwrite, kOverwrite)
      .field("include_optimizer", &SaveOptions::include_optimizer,
             "Keep what training needs to go on.")
      .field("target", &SaveOptions::target,
             "Which Keras decides where generations contradict each other.")
      .choices({"keras3", "keras2"})
      .field("self_test", &SaveOptions::self_test,
             "Keep a sample input and what the model predicts for it, which loading compares.")
      .field("zipped", &SaveOptions::zipped,
             "One file; false for a folder with the files of an archive of Keras 3.");
}

void LoadOptions::describe(Schema<LoadOptions>& s) {
  s.doc("How a model is read.")
      .field("custom_objects", &LoadOptions::custom_objects, "Classes by the names in the file.")
      .field("compile", &LoadOptions::compile, "Compile it as it was saved.")
      .field("safe_mode", &LoadOptions::safe_mode,
             "Run no code from the file, which never happens: false is refused.");
}

void SaveWeightsOptions::describe(Schema<SaveWeightsOptions>& s) {
  s.doc("How weights are written.")
      .field("overwrite", &SaveWeightsOptions::overwrite, kOverwrite)
      .field("objects_to_skip", &SaveWeightsOptions::objects_to_skip,
             "A list of layers that are left out, also the optimizer (.weights.h5).");
}

void LoadWeightsOptions::describe(Schema<LoadWeightsOptions>& s) {
  s.doc("How weights are read.")
      .field("by_name", &LoadWeightsOptions::by_name, "Match layers by name, leave the others.")
      .field("skip_mismatch", &LoadWeightsOptions::skip_mismatch,
             "Leave layers whose shapes differ, with a warning.")
      .field("rename", &LoadWeightsOptions::rename,
             "Names in the file by names in the model, where one * in each is any text (with "
             "by_name: of layers; in files that know arrays by name alone: of weights).")
      .field("report", &LoadWeightsOptions::report,
             "Tell of every weight whether it is loaded, missing or misfitting, and which arrays "
             "are unexpected, before anything is changed.")
      .field("by_path", &LoadWeightsOptions::by_path,
             "Match every weight by the layers that it is inside of and its own name, whatever is "
             "trainable or stands in another order.")
      .field("objects_to_skip", &LoadWeightsOptions::objects_to_skip,
             "A list of layers that keep their weights, also the optimizer (.weights.h5).");
}

const SchemaData& save_model_schema(const std::string& format) {
  return titled_schema<SaveOptions>(format + ": saving a model");
}

const SchemaData& load_model_schema(const std::string& format) {
  return titled_schema<LoadOptions>(format + ": loading a model");
}

const SchemaData& save_weights_schema(const std::string& format) {
  return titled_schema<SaveWeightsOptions>(format + ": saving weights");
}

const SchemaData& load_weights_schema(const std::string& format) {
  return titled_schema<LoadWeightsOptions>(format + ": loading weights");
}

}  // namespace crescent::keras
