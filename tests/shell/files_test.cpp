// crescent inspect, convert, verify: their output, and their failures; crescent describe.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "crescent/io/format.h"
#include "run_crescent.h"

using namespace crescent;

namespace {

ModelPtr trained_model(double rate = 0.01) {
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 4}, {"input_shape", List{3}}, {"name", "first"}}),
       make<Layer>("Dropout", {{"rate", 0.5}, {"name", "drop"}}),
       make<Layer>("Dense", {{"units", 2}, {"name", "last"}})},
      "small");
  model->compile(
      {{"optimizer", Dict{{"class_name", "Adam"}, {"config", Dict{{"learning_rate", rate}}}}},
       {"loss", "mse"},
       {"metrics", List{"mae"}}});
  model->fit({Tensor::from(std::vector<float>(24, 0.5f), {8, 3})},
             {Tensor::from(std::vector<float>(16, 1.5f), {8, 2})}, {{"verbose", 0}});
  return model;
}

TEST_CASE("inspect tells of models in every format what they hold") {
  Folder folder;
  auto model = trained_model();
  for (const char* name : {"m.h5", "m.keras"}) {
    INFO(name);
    save_model(*model, folder / name);
    const Outcome inspection = run_crescent("inspect " + (folder / name) + " --json");
    REQUIRE(inspection.status == 0);
    const Dict facts = parse_json(inspection.text).as_dict();
    CHECK(facts.at("kind") == Value("model"));
    CHECK(facts.at("name") == Value("small"));
    CHECK(facts.at("parameters") == Value(3 * 4 + 4 + 4 * 2 + 2));
    CHECK(facts.at("bytes") == Value(static_cast<int64_t>(fs::file_size(folder / name))));
    CHECK(facts.at("optimizer").as_dict().at("class_name") == Value("Adam"));
    CHECK(facts.at("metrics") == Value(List{"mae"}));
    CHECK(facts.at("epochs_trained") == Value(1));
    CHECK_THAT(facts.at("written_by").as_string(), Catch::StartsWith("Crescent"));
    const Dict& last_layer = facts.at("layers").as_list().back().as_dict();
    CHECK(last_layer.at("name") == Value("last"));
    CHECK(last_layer.at("class") == Value("Dense"));
    CHECK(last_layer.at("parameters") == Value(10));
    CHECK(last_layer.at("weights").as_list().front().as_dict().at("shape") == Value(List{4, 2}));
    const std::string text = run_crescent("info " + (folder / name)).text;
    for (const char* part : {"Sequential 'small'", "26 parameters", "Adam, learning_rate 0.01",
                             "first", "float32 (4, 2)"})
      CHECK_THAT(text, Catch::Contains(part));
  }
}

TEST_CASE("inspect tells of weights and arrays, and of what is no file of ours") {
  Folder folder;
  auto model = trained_model();
  for (const char* name : {"m.weights.h5", "w.h5"}) {
    save_weights(*model, folder / name);
    const Dict facts = parse_json(run_crescent("inspect --json " + (folder / name)).text).as_dict();
    CHECK(facts.at("kind") == Value("weights"));
    CHECK(facts.at("parameters") == Value(26));
  }
  for (const char* name : {"w.npz", "w.safetensors"}) {
    save_weights(*model, folder / name);
    const Dict facts = parse_json(run_crescent("inspect --json " + (folder / name)).text).as_dict();
    CHECK(facts.at("kind") == Value("arrays"));
    CHECK(facts.at("arrays").as_list().front().as_dict().at("name") == Value("first/kernel"));
  }
  write_arrays(folder / "x.npy", {{"x", Tensor::scalar(3)}});
  CHECK_THAT(run_crescent("inspect " + (folder / "x.npy")).text, Catch::Contains("float32 ()"));
  std::ofstream(folder / "junk.h5") << "no HDF5 at all";
  const Outcome junk_inspection = run_crescent("inspect " + (folder / "junk.h5"));
  CHECK(junk_inspection.status != 0);
  CHECK_THAT(junk_inspection.text, Catch::Contains("junk.h5"));
  CHECK_THAT(run_crescent("inspect --jsn x").text, Catch::Contains("did you mean"));
  CHECK_THAT(run_crescent("inspect").text, Catch::Contains("usage"));
}

TEST_CASE("convert writes the same model in another format, or nothing") {
  Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  const std::string chain[] = {"a.h5", "b.keras", "c.h5", "d.keras"};
  for (size_t i = 1; i < std::size(chain); ++i) {
    const std::string source_path = folder / chain[i - 1].c_str(),
                      target_path = folder / chain[i].c_str();
    const size_t old_file_count = folder.count();
    const Outcome rehearsal = run_crescent("convert --dry-run " + source_path + " " + target_path);
    CHECK(rehearsal.status == 0);
    CHECK_THAT(rehearsal.text, Catch::Contains("nothing was written"));
    CHECK(folder.count() == old_file_count);
    const Outcome conversion = run_crescent("convert " + source_path + " " + target_path);
    INFO(conversion.text);
    CHECK(conversion.status == 0);
    CHECK(folder.count() == old_file_count + 1);
    const Outcome verification = run_crescent("verify " + (folder / "a.h5") + " " + target_path);
    INFO(verification.text);
    CHECK(verification.status == 0);
    CHECK_THAT(verification.text, Catch::Contains("weights after a step: same"));
  }
  CHECK(run_crescent("convert " + (folder / "a.h5") + " " + (folder / "w.npz")).status == 0);
  CHECK(run_crescent("convert " + (folder / "w.npz") + " " + (folder / "w.safetensors")).status ==
        0);
  auto loaded_model = trained_model(0.5);
  load_weights(*loaded_model, folder / "w.safetensors");
  const ModelPtr original_model = load_model(folder / "a.h5");
  for (size_t i = 0; i < 4; ++i)
    CHECK(loaded_model->get_weights()[i].to_vector() ==
          original_model->get_weights()[i].to_vector());
}

TEST_CASE("convert removes the temporary folders of processes that have crashed") {
  const Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  fs::create_directory(folder / ".convert-1");  // a process that runs
  fs::create_directory(folder / ".convert-999999999");
  std::ofstream(folder / ".convert-999999999/half") << "half";
  fs::create_directory(folder / ".convert-mine");
  CHECK(run_crescent("convert " + (folder / "a.h5") + " " + (folder / "b.keras")).status == 0);
  CHECK(fs::exists(folder / ".convert-1"));
  CHECK_FALSE(fs::exists(folder / ".convert-999999999"));
  CHECK(fs::exists(folder / ".convert-mine"));
  CHECK(folder.count() == 4);
}

TEST_CASE("convert names the array of a .npy file") {
  Folder folder;
  run_crescent("-e 'cr.data.write_npy(\"" + (folder / "a.npy") + "\", cr.ones { 2, 3 })'");
  for (const char* name : {"b.h5", "b.npz", "b.safetensors"}) {
    const std::string converted_path = folder / name, npy_path = converted_path + ".npy";
    CHECK(run_crescent("convert " + (folder / "a.npy") + " " + converted_path).status == 0);
    CHECK_THAT(run_crescent("inspect " + converted_path).text, Catch::Contains("arr_0"));
    CHECK(run_crescent("convert " + converted_path + " " + npy_path).status == 0);
  }
}

TEST_CASE("convert writes weights in several files, and messages name the target alone") {
  const Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  const size_t old_file_count = folder.count();
  const std::string target_path = folder / "w.weights.json";
  CHECK(run_crescent("convert --dry-run " + (folder / "a.h5") + " " + target_path).status == 0);
  CHECK(folder.count() == old_file_count);
  const Outcome conversion = run_crescent("convert " + (folder / "a.h5") + " " + target_path);
  INFO(conversion.text);
  CHECK(conversion.status == 0);
  CHECK_THAT(conversion.text, Catch::Contains("weights alone"));
  CHECK_THAT(conversion.text, !Catch::Contains(".convert-"));
  CHECK(folder.count() == old_file_count + 2);  // two new files: the index and one shard of weights
  auto loaded_model = trained_model(0.5);
  load_weights(*loaded_model, target_path);
  const ModelPtr original_model = load_model(folder / "a.h5");
  for (size_t i = 0; i < 4; ++i)
    CHECK(loaded_model->get_weights()[i].to_vector() ==
          original_model->get_weights()[i].to_vector());
  const Outcome no_folder =
      run_crescent("convert " + (folder / "a.h5") + " " + (folder / "no/b.h5"));
  CHECK_THAT(no_folder.text, Catch::Contains("no folder") && !Catch::Contains(".convert-"));
}

TEST_CASE("convert writes what a model predicts for other programs, and says what stays behind") {
  const Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  const Outcome conversion =
      run_crescent("convert " + (folder / "a.h5") + " " + (folder / "a.onnx"));
  CHECK(conversion.status == 0);
  CHECK_THAT(conversion.text, Catch::Contains("what compile was given and the layers stay behind"));
  CHECK_THAT(conversion.text, !Catch::Contains("read again"));
  CHECK(fs::exists(folder / "a.onnx"));
  CHECK(folder.count() == 2);
  CHECK(run_crescent("convert " + (folder / "a.onnx") + " " + (folder / "b.h5")).status != 0);
}

TEST_CASE("convert compares the arrays that it wrote with those that it reads") {
  const Folder folder;
  const std::string pixels = folder / "x.npy";
  write_arrays(pixels, {{"", ops::cast(ops::reshape(ops::arange(192), {8, 8, 3}), DType::uint8)}});
  const auto conversion_text = [&](const char* target) {
    return run_crescent("convert " + pixels + " " + (folder / target)).text;
  };
  CHECK_THAT(conversion_text("x.png"), Catch::Contains("done: read again, with the same numbers"));
  CHECK_THAT(conversion_text("x.jpg"),
             Catch::Contains("done: read again, with numbers rounded by up to"));
  std::ofstream(folder / "flat.lua") << R"(-- acme.flat 0.1.0: Loses shapes.
-- provides: format Flat
local Flat = require("crescent").saving.Format:subclass "Flat"
Flat.endings, Flat.signatures = ".flat", "flat"
function Flat:write_arrays(path)
  local file <close> = io.open(path, "w")
  file:write "flat"
end
function Flat:read_arrays() return { x = require("crescent").zeros { 192 } } end
)";
  const Outcome failed_conversion =
      run_crescent("--plugin acme.flat convert " + pixels + " " + (folder / "x.flat"),
                   "CRESCENT_PLUGIN_PATH=" + folder / ".");
  CHECK(failed_conversion.status == 1);
  CHECK_THAT(failed_conversion.text, Catch::Contains("uint8(8, 8, 3), is read as float32(192,)"));
  CHECK_FALSE(fs::exists(folder / "x.flat"));
}

TEST_CASE("convert refuses what it cannot carry over and leaves no file") {
  Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  save_weights(*trained_model(), folder / "w.weights.h5");
  run_crescent("-e 'cr.data.write_npy(\"" + (folder / "a.npy") + "\", cr.ones { 2 })'");
  const size_t old_file_count = folder.count();
  const std::pair<std::string, const char*> cases[] = {
      {(folder / "w.weights.h5") + " " + (folder / "b.keras"), "no model"},
      {(folder / "a.h5") + " " + (folder / "b.keras") + " --target keras2", "Keras 3"},
      {(folder / "w.weights.h5") + " " + (folder / "b.weights.json"), "only their model knows"},
      {(folder / "a.npy") + " " + (folder / "b.npy") + " --target keras3",
       "--target is for models"},
      {(folder / "a.h5") + " " + (folder / "b.csv"), "formats that"},
      {(folder / "a.npy") + " " + (folder / "b.weights.h5"),
       "weights by the classes of a model's layers"},
      {(folder / "a.h5") + " " + (folder / "none/b.h5"), "no folder"},
      {(folder / "a.h5") + " " + (folder / "b.safetensors") + " --target keras3", "one way only"}};
  for (const auto& [arguments, message_part] : cases) {
    const Outcome refusal = run_crescent("convert " + arguments);
    INFO(arguments);
    CHECK(refusal.status != 0);
    CHECK_THAT(refusal.text, Catch::Contains(message_part));
    CHECK(folder.count() == old_file_count);
  }
}

TEST_CASE("verify finds targets for losses of numbers and of classes beside each other") {
  Folder folder;
  const std::string path = folder / "m.keras";
  run_crescent(concat("-e '", R"(
    local i = cr.Input { shape = { 3 } }
    local function head() return cr.layers.Dense(4, { activation = "softmax" })(i) end
    local m = cr.Model(i, { head(), head(), head() })
    m:compile { loss = { "kl_divergence", "sparse_categorical_crossentropy", "mse" } }
    m:save [[)",
                      path, "]]'"));
  const Outcome verification = run_crescent("verify " + path + " " + path);
  INFO(verification.text);
  CHECK(verification.status == 0);
  CHECK_THAT(verification.text, Catch::Contains("weights after a step: same"));
}

TEST_CASE("verify names the first layer that differs") {
  Folder folder;
  auto model = trained_model();
  save_model(*model, folder / "a.h5");
  Tensors weights = model->get_weights();
  weights[2] = weights[2] * 1.01;
  model->set_weights(weights);
  save_model(*model, folder / "b.keras");
  const Outcome verification =
      run_crescent("verify " + (folder / "a.h5") + " " + (folder / "b.keras"));
  CHECK(verification.status != 0);
  CHECK_THAT(verification.text, Catch::Contains("weights: DIFFERENT, first in layer 'last'"));
  CHECK_THAT(verification.text,
             Catch::Contains("values: DIFFERENT, first in the output of layer 'last'"));
  save_model(*trained_model(0.5), folder / "c.h5");
  auto slow_model = load_model(folder / "c.h5");
  slow_model->set_weights(load_model(folder / "a.h5")->get_weights());
  save_model(*slow_model, folder / "c.h5");
  const Outcome rate_verification =
      run_crescent("verify " + (folder / "a.h5") + " " + (folder / "c.h5"));
  CHECK(rate_verification.status != 0);
  CHECK_THAT(rate_verification.text, Catch::Contains("values: same"));
  CHECK_THAT(rate_verification.text,
             Catch::Contains("weights after a step: DIFFERENT, first in layer 'first'"));
}

TEST_CASE("validate checks the compiled steps of a file's model, on data of a file too") {
  Folder folder;
  const std::string path = folder / "m.keras";
  auto model = trained_model();
  save_model(*model, path);
  const Outcome default_validation = run_crescent("validate " + path);
  INFO(default_validation.text);
  CHECK(default_validation.status == 0);
  CHECK_THAT(default_validation.text,
             Catch::Contains("All within bounds: train_step, test_step, predict_step"));
  const std::string data_path = folder / "data.h5";
  run_crescent(concat("-e 'm = cr.models.load_model [[", path, R"(]]
    local x = cr.random.normal { 20, m.inputs[1].shape[2] }
    cr.data.write_hdf5([[)",
                      data_path, "]], { x = x, y = m:predict(x) })'"));
  const Outcome validation =
      run_crescent("validate " + path + " --data " + data_path + " --batch_size 10");
  INFO(validation.text);
  CHECK(validation.status == 0);
  CHECK(run_crescent("validate " + path + " --dta x").text.find("did you mean") !=
        std::string::npos);
}

}  // namespace

namespace {

/// Checks the types, defaults and documentation of all rows of the listing inside `value`.
void check_rows(const Value& value, const std::string& path) {
  if (value.is_list())
    for (const Value& item : value.as_list()) check_rows(item, path);
  if (!value.is_dict()) return;
  const Dict& row = value.as_dict();
  const Value *name = row.find("path"), *doc = row.find("doc");
  if (!name) name = row.find("name");
  const std::string row_path = path + "/" + (name ? name->as_string() : "");
  INFO(row_path);
  if (row.contains("required")) {
    CHECK(row.at("type").is_string());
    CHECK(row.at("required").as_bool() != row.contains("default"));
  }
  if (row.contains("signature") || row.contains("options") || row.contains("settable"))
    CHECK((doc && !doc->as_string().empty()));
  for (const DictEntry& entry : row) check_rows(entry.value, row_path);
}

bool has_row(const Value& rows, const char* key, const std::string& name) {
  return std::any_of(rows.as_list().begin(), rows.as_list().end(),
                     [&](const Value& row) { return row.as_dict().at(key).as_string() == name; });
}

}  // namespace

TEST_CASE("describe --json lists everything that can be called, the same each time") {
  const Outcome first_outcome = run_crescent("describe --json");
  REQUIRE(first_outcome.status == 0);
  const Value listing = parse_json(first_outcome.text);
  check_rows(listing, "");
  const Dict& sections = listing.as_dict();
  CHECK(has_row(sections.at("functions"), "path", "cr.ops.add"));
  CHECK(has_row(sections.at("functions"), "path", "cr.utils.FeatureSpace"));
  CHECK(has_row(sections.at("classes"), "name", "Dense"));
  CHECK(has_row(sections.at("types"), "name", "dataset"));
  CHECK(run_crescent("describe --json").text == first_outcome.text);
}

TEST_CASE("describe NAME tells what the name means") {
  const Outcome sum = run_crescent("describe cr.ops.sum"), fit = run_crescent("describe fit"),
                dense = run_crescent("describe layers.Dense --json"),
                unknown = run_crescent("describe cr.ops.summ");
  CHECK_THAT(sum.text, Catch::StartsWith("cr.ops.sum(x, axis=nil, keepdims=false)\n"));
  CHECK_THAT(sum.text, Catch::Contains("keepdims: a boolean, default false"));
  CHECK_THAT(fit.text, Catch::Contains("model.fit(self, x, y=nil)"));
  CHECK_THAT(fit.text, Catch::Contains("epochs: an integer, at least 0, default 1."));
  const Value row = parse_json(dense.text).as_list().front();
  CHECK(row.as_dict().at("path").as_string() == "cr.layers.Dense");
  CHECK(has_row(row.as_dict().at("options"), "name", "units"));
  CHECK(unknown.status != 0);
  CHECK_THAT(unknown.text, Catch::Contains("did you mean 'cr.ops.sum'?"));
}

TEST_CASE("a misspelt command or option is answered with what there is") {
  const Outcome command = run_crescent("inspct m.h5"), option = run_crescent("-x"),
                file = run_crescent("nothing_here.lua");
  CHECK(command.status != 0);
  CHECK(command.text ==
        "crescent: there is no file and no command 'inspct' (did you mean 'inspect'?)\n");
  CHECK(option.text == "crescent: unrecognised option '-x'; crescent --help lists the options\n");
  CHECK(file.text.find("cannot open nothing_here.lua") != std::string::npos);
}
