// Every model among the golden files is exported to ONNX, and the exported file must predict the
// same. Models of the folder `programs` need custom classes and are left out.
#include <algorithm>
#include <cstdlib>

#include "predictions.h"

namespace crescent {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> golden_files() {
  const char* folder = std::getenv("CRESCENT_GOLDEN");
  REQUIRE(folder);
  std::vector<std::string> files;
  fs::recursive_directory_iterator walk(folder);
  for (const fs::directory_entry& entry : walk) {
    const std::string path = entry.path().string();
    if (walk.depth() == 0 && entry.path().filename() == "programs")
      walk.disable_recursion_pending();
    if (path.ends_with(".keras") || (path.ends_with(".h5") && !path.ends_with(".io.h5")))
      files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The model in the file; null if the file holds something else.
ModelPtr model_in(const std::string& path) {
  try {
    return load_model(path, {{"compile", false}});
  } catch (const Error&) {
    return nullptr;
  }
}

/// Whether ONNX cannot express the model, because it keeps state between batches or is no graph.
bool is_beyond_onnx(Model& model) { return !model.is_graph() || model.stateful(); }

bool takes_ids(Model& model) {
  const std::vector<Layer*> layers = model.flatten_layers();
  return std::any_of(layers.begin(), layers.end(),
                     [](const Layer* layer) { return layer->class_name() == "Embedding"; });
}

}  // namespace

TEST_CASE("golden models predict the same from an ONNX file", "[.golden]") {
  set_warning_handler([](std::string_view) {});
  size_t exported = 0;
  for (const std::string& path : golden_files()) {
    const ModelPtr model = model_in(path);
    if (!model || is_beyond_onnx(*model)) continue;
    CAPTURE(path);
    onnx_test::check_predictions(*model, takes_ids(*model));
    ++exported;
  }
  set_warning_handler(nullptr);
  CHECK(exported > 0);
  WARN(exported << " models were exported");
}

}  // namespace crescent
