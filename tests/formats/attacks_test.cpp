// Configurations that try to run code, open other files or use invalid names.
#include <cmath>
#include <ctime>

#include "crescent/ops/ops.h"
#include "files/zip/image.h"
#include "models.h"

namespace crescent::hdf5 {
namespace {

Value sequential_of(const Value& layer) {
  return Dict{{"class_name", "Sequential"},
              {"config", Dict{{"name", "s"}, {"layers", List{layer}}}}};
}

Dict dense(const Dict& more_options = {}) {
  Dict config{{"name", "odd"}, {"batch_input_shape", List{Value(), 4}}, {"units", 2}};
  for (const DictEntry& entry : more_options) config.set(entry.key, entry.value);
  return {{"class_name", "Dense"}, {"config", config}};
}

void write_h5(const std::string& path, const Value& config) {
  write_tree(
      path,
      {{"", {{"model_config", to_json(config)}, {"keras_version", std::string("2.3.1")}}, {}}});
}

void write_archive(const std::string& path, const Value& config) {
  const std::string metadata = R"({"keras_version": "3.15.1", "date_saved": ""})",
                    text = to_json(config), weights = read_bytes(path + ".h5");
  std::vector<zip::File> files;
  for (const auto& [name, bytes] :
       {std::pair("metadata.json", &metadata), std::pair("config.json", &text),
        std::pair("model.weights.h5", &weights)})
    files.push_back({name, {std::as_bytes(std::span(*bytes))}});
  replace_file(path, zip::Image(files).pieces());
}

void write_folder(const std::string& path, const Value& config) {
  std::filesystem::create_directory(path);
  write_bytes(path + "/metadata.json", R"({"keras_version": "3.15.1", "date_saved": ""})");
  write_bytes(path + "/config.json", to_json(config));
  std::filesystem::copy_file(path + ".h5", path + "/model.weights.h5");
}

/// The error message without the path of the file.
std::string without_path(std::string message, const std::string& path) {
  for (size_t position; (position = message.find(path)) != message.npos;)
    message.erase(position, path.size());
  return message;
}

TEST_CASE("F01, F03: code in a file is refused, in the same words whatever the file",
          "[F01][F03]") {
  Scratch scratch;
  const Value config = sequential_of(
      Dict{{"class_name", "Lambda"},
           {"config", Dict{{"name", "odd"}, {"function", List{"4wEAAAAA", Value(), Value()}}}}});
  const std::string h5 = scratch.path("m.h5"), archive = scratch.path("m.keras"),
                    folder = scratch.path("folder");
  write_h5(h5, config);
  for (const std::string& path : {archive, folder})
    crescent::save_weights(*small_sequential(), path + ".h5");
  write_archive(archive, config);
  write_folder(folder, config);
  std::vector<std::string> messages{failure([&] { model_from_json(to_json(config)); })};
  for (const std::string& path : {h5, archive, folder})
    messages.push_back(without_path(failure([&] { crescent::load_model(path); }), path));
  for (const std::string& message : messages) {
    CHECK_THAT(message, Catch::Contains("Lambda") && Catch::Contains("'odd'") &&
                            Catch::Contains("never loaded from a file"));
    CHECK(message.substr(message.find("Lambda")) == messages[0].substr(messages[0].find("Lambda")));
  }
}

TEST_CASE("F02, F04: names of modules, functions, libraries and paths in a file do nothing",
          "[F02][F04]") {
  Scratch scratch;
  const std::string marker = scratch.path("was_run"), path = scratch.path("m.h5");
  const std::vector<std::string> names = {
      "os.system",
      "builtins.eval",
      "keras.utils.get_file",
      "subprocess.Popen",
      "/lib/x86_64-linux-gnu/libc.so.6",
      "../../plugins/evil.so",
      "$(touch " + marker + ")",
      "file:///etc/passwd",
      "http://localhost:1/x",
      "return os.execute('touch " + marker + "')",
  };
  const std::vector<std::string> options = {
      "activation",         "kernel_initializer",   "bias_initializer",
      "kernel_regularizer", "bias_regularizer",     "kernel_constraint",
      "bias_constraint",    "activity_regularizer", "dtype",
      "vocabulary"};
  int refused_count = 0, made_count = 0;
  set_warning_handler([](std::string_view) {});
  const auto try_to_load = [&](const Value& config) {
    ++made_count;
    write_h5(path, config);
    try {
      crescent::load_model(path);
    } catch (const Error& error) {
      ++refused_count;
      CHECK_FALSE(std::string(error.what()).empty());
    }
  };
  for (const std::string& name : names) {
    for (const std::string& option : options) {
      try_to_load(sequential_of(dense({{option, name}})));
      try_to_load(sequential_of(dense({{option, Dict{{"class_name", name}, {"config", Dict{}}}}})));
      try_to_load(sequential_of(dense({{option, Dict{{"module", name},
                                                     {"class_name", "function"},
                                                     {"config", name},
                                                     {"registered_name", name}}}})));
    }
    Dict layer = dense();
    layer.set("module", name);
    layer.set("registered_name", name);
    try_to_load(sequential_of(layer));
    layer = dense();
    layer.set("class_name", name);
    try_to_load(sequential_of(layer));
    try_to_load(Dict{{"class_name", name}, {"config", Dict{}}});
  }
  set_warning_handler(nullptr);
  CHECK_FALSE(std::filesystem::exists(marker));
  CHECK(made_count >= 200);
  CHECK(refused_count >= made_count * 9 / 10);
}

TEST_CASE("F06: names that are no names make no file and reach no terminal as they are", "[F06]") {
  Scratch scratch;
  const std::string path = scratch.path("m.h5");
  for (const std::string& name :
       {std::string("../x"), std::string("/x"), std::string("a\033[31mb"), std::string("a\nb\rc"),
        std::string("\xc2\x9b"
                    "31m"),
        std::string(1 << 20, 'n')}) {
    CAPTURE(name.substr(0, 40));
    write_h5(path, sequential_of(dense({{"name", name}, {"units", "many"}})));
    const std::string message = failure([&] { crescent::load_model(path); });
    CHECK(message == printable(message));
    CHECK(message.find('\033') == message.npos);
    try {
      const ModelPtr model = model_from_json(to_json(sequential_of(dense({{"name", name}}))));
      for (const std::string& line : model->summary()) {
        CHECK(printable(line) == line);
        CHECK(line.size() < 4096);
      }
    } catch (const Error&) {
    }
    CHECK(scratch.count() == 1);
  }
  const Value model_within_itself =
      Dict{{"class_name", "Sequential"},
           {"config", Dict{{"name", "s"}, {"layers", List{dense(), dense()}}}}};
  write_h5(path, model_within_itself);
  CHECK_THAT(failure([&] { crescent::load_model(path); }), Catch::Contains("odd"));
}

std::string last_warning;  // NOLINT: set by the warning handler

TEST_CASE("F21: weights that are not finite are loaded, and named in a warning", "[F21]") {
  Scratch scratch;
  auto model = small_sequential();
  Tensors weights = model->get_weights();
  weights[0] = ops::full(weights[0].shape(), std::nan(""));
  model->set_weights(weights);
  crescent::save_weights(*model, scratch.path("w.h5"));
  last_warning.clear();
  set_warning_handler([](std::string_view text) { last_warning += text; });
  crescent::load_weights(*small_sequential(), scratch.path("w.h5"));
  set_warning_handler(nullptr);
  CHECK_THAT(last_warning, Catch::Contains("NaN or infinite numbers in") &&
                               Catch::Contains("first/kernel") && !Catch::Contains("last"));
}

TEST_CASE("5,000 layers open in seconds, and their names are more than an attribute holds") {
  Scratch scratch;
  const std::string path = scratch.path("m.h5");
  constexpr int kLayers = 5000;
  std::vector<LayerPtr> layers;
  for (int i = 0; i < kLayers; ++i) {
    Dict options{{"units", 2}, {"name", concat("a_layer_with_quite_a_long_name_", i)}};
    if (i == 0) options.set("input_shape", List{2});
    layers.push_back(layer("Dense", options));
  }
  auto model = Sequential::make(layers, "deep");
  crescent::save_model(*model, path);
  CHECK(FileReader(path).texts("model_weights", "layer_names")->size() == kLayers);
  const std::clock_t start = std::clock();
  const ModelPtr loaded_model = crescent::load_model(path);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 5);
  check_same(loaded_model->get_weights(), model->get_weights());
}

}  // namespace
}  // namespace crescent::hdf5
