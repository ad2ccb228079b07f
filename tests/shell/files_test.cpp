// crescent inspect, convert, verify: their output, and their failures; crescent describe.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "called.h"
#include "crescent/io/format.h"

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
    const Outcome inspected = crescent_says("inspect " + (folder / name) + " --json");
    REQUIRE(inspected.status == 0);
    const Dict facts = parse_json(inspected.text).as_dict();
    CHECK(facts.at("kind") == Value("model"));
    CHECK(facts.at("name") == Value("small"));
    CHECK(facts.at("parameters") == Value(3 * 4 + 4 + 4 * 2 + 2));
    CHECK(facts.at("bytes") == Value(static_cast<int64_t>(fs::file_size(folder / name))));
    CHECK(facts.at("optimizer").as_dict().at("class_name") == Value("Adam"));
    CHECK(facts.at("metrics") == Value(List{"mae"}));
    CHECK(facts.at("epochs_trained") == Value(1));
    CHECK_THAT(facts.at("written_by").as_string(), Catch::StartsWith("Crescent"));
    const Dict& last = facts.at("layers").as_list().back().as_dict();
    CHECK(last.at("name") == Value("last"));
    CHECK(last.at("class") == Value("Dense"));
    CHECK(last.at("parameters") == Value(10));
    CHECK(last.at("weights").as_list().front().as_dict().at("shape") == Value(List{4, 2}));
    const std::string text = crescent_says("info " + (folder / name)).text;
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
    const Dict facts =
        parse_json(crescent_says("inspect --json " + (folder / name)).text).as_dict();
    CHECK(facts.at("kind") == Value("weights"));
    CHECK(facts.at("parameters") == Value(26));
  }
  for (const char* name : {"w.npz", "w.safetensors"}) {
    save_weights(*model, folder / name);
    const Dict facts =
        parse_json(crescent_says("inspect --json " + (folder / name)).text).as_dict();
    CHECK(facts.at("kind") == Value("arrays"));
    CHECK(facts.at("arrays").as_list().front().as_dict().at("name") == Value("first/kernel"));
  }
  write_arrays(folder / "x.npy", {{"x", Tensor::scalar(3)}});
  CHECK_THAT(crescent_says("inspect " + (folder / "x.npy")).text, Catch::Contains("float32 ()"));
  std::ofstream(folder / "junk.h5") << "no HDF5 at all";
  const Outcome junk = crescent_says("inspect " + (folder / "junk.h5"));
  CHECK(junk.status != 0);
  CHECK_THAT(junk.text, Catch::Contains("junk.h5"));
  CHECK_THAT(crescent_says("inspect --jsn x").text, Catch::Contains("did you mean"));
  CHECK_THAT(crescent_says("inspect").text, Catch::Contains("usage"));
}

TEST_CASE("convert writes the same model in another format, or nothing") {
  Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  const std::string chain[] = {"a.h5", "b.keras", "c.h5", "d.keras"};
  for (size_t i = 1; i < std::size(chain); ++i) {
    const std::string from = folder / chain[i - 1].c_str(), to = folder / chain[i].c_str();
    const size_t before = folder.count();
    const Outcome rehearsed = crescent_says("convert --dry-run " + from + " " + to);
    CHECK(rehearsed.status == 0);
    CHECK_THAT(rehearsed.text, Catch::Contains("nothing was written"));
    CHECK(folder.count() == before);
    const Outcome conversion = crescent_says("convert " + from + " " + to);
    INFO(conversion.text);
    CHECK(conversion.status == 0);
    CHECK(folder.count() == before + 1);
    const Outcome verification = crescent_says("verify " + (folder / "a.h5") + " " + to);
    INFO(verification.text);
    CHECK(verification.status == 0);
    CHECK_THAT(verification.text, Catch::Contains("weights after a step: same"));
  }
  CHECK(crescent_says("convert " + (folder / "a.h5") + " " + (folder / "w.npz")).status == 0);
  CHECK(crescent_says("convert " + (folder / "w.npz") + " " + (folder / "w.safetensors")).status ==
        0);
  auto loaded = trained_model(0.5);
  load_weights(*loaded, folder / "w.safetensors");
  const ModelPtr first = load_model(folder / "a.h5");
  for (size_t i = 0; i < 4; ++i)
    CHECK(loaded->get_weights()[i].to_vector() == first->get_weights()[i].to_vector());
}

TEST_CASE("convert names the array of a .npy file") {
  Folder folder;
  crescent_says("-e 'cr.data.write_npy(\"" + (folder / "a.npy") + "\", cr.ones { 2, 3 })'");
  for (const char* name : {"b.h5", "b.npz", "b.safetensors"}) {
    const std::string converted_path = folder / name, npy_path = converted_path + ".npy";
    CHECK(crescent_says("convert " + (folder / "a.npy") + " " + converted_path).status == 0);
    CHECK_THAT(crescent_says("inspect " + converted_path).text, Catch::Contains("arr_0"));
    CHECK(crescent_says("convert " + converted_path + " " + npy_path).status == 0);
  }
}

TEST_CASE("convert writes weights in several files, and messages name the target alone") {
  const Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  const size_t before = folder.count();
  const std::string to = folder / "w.weights.json";
  CHECK(crescent_says("convert --dry-run " + (folder / "a.h5") + " " + to).status == 0);
  CHECK(folder.count() == before);
  const Outcome conversion = crescent_says("convert " + (folder / "a.h5") + " " + to);
  INFO(conversion.text);
  CHECK(conversion.status == 0);
  CHECK_THAT(conversion.text, Catch::Contains("weights alone"));
  CHECK_THAT(conversion.text, !Catch::Contains(".convert-"));
  CHECK(folder.count() == before + 2);  // two new files: the index and one shard of weights
  auto loaded = trained_model(0.5);
  load_weights(*loaded, to);
  const ModelPtr first = load_model(folder / "a.h5");
  for (size_t i = 0; i < 4; ++i)
    CHECK(loaded->get_weights()[i].to_vector() == first->get_weights()[i].to_vector());
  const Outcome no_folder =
      crescent_says("convert " + (folder / "a.h5") + " " + (folder / "no/b.h5"));
  CHECK_THAT(no_folder.text, Catch::Contains("no folder") && !Catch::Contains(".convert-"));
}

TEST_CASE("convert writes what a model predicts for other programs, and says what stays behind") {
  const Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  const Outcome conversion =
      crescent_says("convert " + (folder / "a.h5") + " " + (folder / "a.onnx"));
  CHECK(conversion.status == 0);
  CHECK_THAT(conversion.text, Catch::Contains("what compile was given and the layers stay behind"));
  CHECK_THAT(conversion.text, !Catch::Contains("read again"));
  CHECK(fs::exists(folder / "a.onnx"));
  CHECK(folder.count() == 2);
  CHECK(crescent_says("convert " + (folder / "a.onnx") + " " + (folder / "b.h5")).status != 0);
}

TEST_CASE("convert compares the arrays that it wrote with those that it reads") {
  const Folder folder;
  const std::string pixels = folder / "x.npy";
  write_arrays(pixels, {{"", ops::cast(ops::reshape(ops::arange(192), {8, 8, 3}), DType::uint8)}});
  const auto converted = [&](const char* to) {
    return crescent_says("convert " + pixels + " " + (folder / to)).text;
  };
  CHECK_THAT(converted("x.png"), Catch::Contains("done: read again, with the same numbers"));
  CHECK_THAT(converted("x.jpg"),
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
      crescent_says("--plugin acme.flat convert " + pixels + " " + (folder / "x.flat"),
                    "CRESCENT_PLUGIN_PATH=" + folder / ".");
  CHECK(failed_conversion.status == 1);
  CHECK_THAT(failed_conversion.text, Catch::Contains("uint8(8, 8, 3), is read as float32(192,)"));
  CHECK_FALSE(fs::exists(folder / "x.flat"));
}

TEST_CASE("convert refuses what it cannot carry over and leaves no file") {
  Folder folder;
  save_model(*trained_model(), folder / "a.h5");
  save_weights(*trained_model(), folder / "w.weights.h5");
  crescent_says("-e 'cr.data.write_npy(\"" + (folder / "a.npy") + "\", cr.ones { 2 })'");
  const size_t before = folder.count();
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
  for (const auto& [arguments, part] : cases) {
    const Outcome refused = crescent_says("convert " + arguments);
    INFO(arguments);
    CHECK(refused.status != 0);
    CHECK_THAT(refused.text, Catch::Contains(part));
    CHECK(folder.count() == before);
  }
}

TEST_CASE("verify finds targets for losses of numbers and of classes beside each other") {
  Folder folder;
  const std::string path = folder / "m.keras";
  crescent_says(concat("-e '", R"(
    local i = cr.Input { shape = { 3 } }
    local function head() return cr.layers.Dense(4, { activation = "softmax" })(i) end
    local m = cr.Model(i, { head(), head(), head() })
    m:compile { loss = { "kl_divergence", "sparse_categorical_crossentropy", "mse" } }
    m:save [[)",
                       path, "]]'"));
  const Outcome verification = crescent_says("verify " + path + " " + path);
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
  const Outcome other = crescent_says("verify " + (folder / "a.h5") + " " + (folder / "b.keras"));
  CHECK(other.status != 0);
  CHECK_THAT(other.text, Catch::Contains("weights: DIFFERENT, first in layer 'last'"));
  CHECK_THAT(other.text, Catch::Contains("values: DIFFERENT, first in the output of layer 'last'"));
  save_model(*trained_model(0.5), folder / "c.h5");
  auto slow = load_model(folder / "c.h5");
  slow->set_weights(load_model(folder / "a.h5")->get_weights());
  save_model(*slow, folder / "c.h5");
  const Outcome rate = crescent_says("verify " + (folder / "a.h5") + " " + (folder / "c.h5"));
  CHECK(rate.status != 0);
  CHECK_THAT(rate.text, Catch::Contains("values: same"));
  CHECK_THAT(rate.text, Catch::Contains("weights after a step: DIFFERENT, first in layer 'first'"));
}

TEST_CASE("validate checks the compiled steps of a file's model, on data of a file too") {
  Folder folder;
  const std::string path = folder / "m.keras";
  auto model = trained_model();
  save_model(*model, path);
  const Outcome invented = crescent_says("validate " + path);
  INFO(invented.text);
  CHECK(invented.status == 0);
  CHECK_THAT(invented.text,
             Catch::Contains("All within bounds: train_step, test_step, predict_step"));
  const std::string data = folder / "data.h5";
  crescent_says(concat("-e 'm = cr.models.load_model [[", path, R"(]]
    local x = cr.random.normal { 20, m.inputs[1].shape[2] }
    cr.data.write_hdf5([[)",
                       data, "]], { x = x, y = m:predict(x) })'"));
  const Outcome validation =
      crescent_says("validate " + path + " --data " + data + " --batch_size 10");
  INFO(validation.text);
  CHECK(validation.status == 0);
  CHECK(crescent_says("validate " + path + " --dta x").text.find("did you mean") !=
        std::string::npos);
}

}  // namespace

namespace {

/// Checks each named row of the listing below `value`, as text.
void check_rows(const Value& value, const std::string& place) {
  if (value.is_list())
    for (const Value& item : value.as_list()) check_rows(item, place);
  if (!value.is_dict()) return;
  const Dict& row = value.as_dict();
  const Value *name = row.find("path"), *doc = row.find("doc");
  if (!name) name = row.find("name");
  const std::string inner = place + "/" + (name ? name->as_string() : "");
  INFO(inner);
  if (row.contains("required")) {
    CHECK(row.at("type").is_string());
    CHECK(row.at("required").as_bool() != row.contains("default"));
  }
  if (row.contains("signature") || row.contains("options") || row.contains("settable"))
    CHECK((doc && !doc->as_string().empty()));
  for (const DictEntry& entry : row) check_rows(entry.value, inner);
}

bool has_row(const Value& rows, const char* key, const std::string& name) {
  return std::any_of(rows.as_list().begin(), rows.as_list().end(),
                     [&](const Value& row) { return row.as_dict().at(key).as_string() == name; });
}

}  // namespace

TEST_CASE("describe --json lists everything that can be called, the same each time") {
  const Outcome first = crescent_says("describe --json");
  REQUIRE(first.status == 0);
  const Value listing = parse_json(first.text);
  check_rows(listing, "");
  const Dict& sections = listing.as_dict();
  CHECK(has_row(sections.at("functions"), "path", "cr.ops.add"));
  CHECK(has_row(sections.at("functions"), "path", "cr.utils.FeatureSpace"));
  CHECK(has_row(sections.at("classes"), "name", "Dense"));
  CHECK(has_row(sections.at("types"), "name", "dataset"));
  CHECK(crescent_says("describe --json").text == first.text);
}

TEST_CASE("describe NAME tells what the name means") {
  const Outcome sum = crescent_says("describe cr.ops.sum"), fit = crescent_says("describe fit"),
                dense = crescent_says("describe layers.Dense --json"),
                unknown = crescent_says("describe cr.ops.summ");
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
  const Outcome command = crescent_says("inspct m.h5"), option = crescent_says("-x"),
                file = crescent_says("nothing_here.lua");
  CHECK(command.status != 0);
  CHECK(command.text ==
        "crescent: there is no file and no command 'inspct' (did you mean 'inspect'?)\n");
  CHECK(option.text == "crescent: unrecognised option '-x'; crescent --help lists the options\n");
  CHECK(file.text.find("cannot open nothing_here.lua") != std::string::npos);
}
