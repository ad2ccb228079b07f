// Files in the formats of Keras 3: .keras archives, as a file and as an unpacked folder, and
// .weights.h5.
#include <fstream>
#include <random>

#include "archives.h"
#include "base/text.h"
#include "image.h"
#include "keras/model/model_file.h"
#include "keras_file.h"

namespace crescent::hdf5 {
namespace {

namespace fs = std::filesystem;

ModelPtr trained_model(const Value& optimizer) {
  auto model = small_sequential();
  model->compile({{"optimizer", optimizer},
                  {"loss", "sparse_categorical_crossentropy"},
                  {"metrics", List{"accuracy"}}});
  model->fit({ramp({100, 4})}, {labels(100, 3)},
             {{"epochs", 2}, {"batch_size", 16}, {"verbose", 0}});
  return model;
}

/// Checks that further training of both models gives bit-identical results.
void check_continuation(Model& a, Model& b) {
  const Dict options{{"epochs", 2}, {"batch_size", 16}, {"verbose", 0}};
  const Tensor x = ramp({100, 4}), y = labels(100, 3);
  CHECK(a.fit({x}, {y}, options)->at("loss") == b.fit({x}, {y}, options)->at("loss"));
  check_same(a.get_weights(), b.get_weights());
}

TEST_CASE("training goes on bit for bit from an archive, and through h5 and back") {
  const Dict decaying_rate =
      configured("ExponentialDecay",
                 {{"initial_learning_rate", 0.01}, {"decay_steps", 3}, {"decay_rate", 0.5}});
  const Value optimizers[] = {
      "adam",
      configured("SGD", {{"momentum", 0.9}, {"nesterov", true}, {"use_ema", true}}),
      configured("Adam", {{"amsgrad", true}, {"gradient_accumulation_steps", 3}}),
      configured("RMSprop",
                 {{"learning_rate", decaying_rate}, {"momentum", 0.5}, {"centered", true}}),
  };
  for (const Value& optimizer : optimizers) {
    CAPTURE(to_text(optimizer));
    Scratch scratch;
    auto model = trained_model(optimizer);
    crescent::save_model(*model, scratch.path("m.keras"));
    auto model_from_archive = crescent::load_model(scratch.path("m.keras"));
    CHECK(model_from_archive->epochs_trained() == 2);
    crescent::save_model(*model_from_archive, scratch.path("m.h5"));
    auto model_from_h5 = crescent::load_model(scratch.path("m.h5"));
    crescent::save_model(*model_from_h5, scratch.path("n.keras"));
    check_continuation(*model, *crescent::load_model(scratch.path("n.keras")));
  }
}

TEST_CASE("an optimizer is known by its name, whichever backend's module Keras had it in") {
  const char* optimizers[] = {"Adadelta", "Adagrad", "Adam", "Adamax",  "AdamW",
                              "Lion",     "Nadam",   "SGD",  "RMSprop", "Ftrl"};
  for (const std::string name : optimizers) {
    CAPTURE(name);
    const Scratch scratch;
    const auto model =
        trained_model(configured(name, {{"learning_rate", 0.02}, {"clipnorm", 2.0}}));
    crescent::save_model(*model, scratch.path("m.keras"));
    auto members = members_of_archive(scratch.path("m.keras"));
    Value config = parse_json(members["config.json"]);
    Dict& optimizer = config.as_dict()["compile_config"].as_dict()["optimizer"].as_dict();
    CHECK(optimizer.at("module") == Value("keras.optimizers"));
    optimizer.set("module", "keras.src.backend.torch.optimizers.torch_" + lower_case(name));
    optimizer.set("registered_name", name);
    members["config.json"] = to_json(config);
    pack(scratch.path("n.keras"), members);
    const auto loaded_model = crescent::load_model(scratch.path("n.keras"));
    REQUIRE(loaded_model->compiled());
    CHECK(loaded_model->optimizer()->get_config() == model->optimizer()->get_config());
    check_continuation(*model, *loaded_model);
  }
}

TEST_CASE("S12: the same model gives the same archive, byte for byte") {
  Scratch scratch;
  auto model = trained_model("adam");
  crescent::save_model(*model, scratch.path("a.keras"));
  crescent::save_model(*model, scratch.path("b.keras"));
  CHECK(read_bytes(scratch.path("a.keras")) == read_bytes(scratch.path("b.keras")));
}

TEST_CASE("weights with the state of the optimizer") {
  Scratch scratch;
  auto model = trained_model("adam"), other_model = trained_model("adam"),
       uncompiled_model = small_sequential();
  const std::string path = scratch.path("m.weights.h5");
  crescent::save_weights(*model, path);
  other_model->train_on_batch({ramp({8, 4})}, {labels(8, 3)});
  crescent::load_weights(*other_model, path);
  check_same(model->get_weights(), other_model->get_weights());
  const Variables saved_state = model->optimizer()->state(),
                  loaded_state = other_model->optimizer()->state();
  REQUIRE(saved_state.size() == loaded_state.size());
  for (size_t i = 0; i < saved_state.size(); ++i)
    check_same(saved_state[i].value(), loaded_state[i].value());
  // This model is not compiled, so only the weights are loaded.
  crescent::load_weights(*uncompiled_model, path);
}

TEST_CASE("a compiled model takes the optimizer's state before its first step") {
  Scratch scratch;
  auto model = trained_model("adam"), fresh_model = small_sequential();
  crescent::save_weights(*model, scratch.path("m.weights.h5"));
  fresh_model->compile({{"optimizer", "adam"}, {"loss", "sparse_categorical_crossentropy"}});
  crescent::load_weights(*fresh_model, scratch.path("m.weights.h5"));
  CHECK(fresh_model->optimizer()->iterations().value().to_vector() ==
        model->optimizer()->iterations().value().to_vector());
  check_same(fresh_model->optimizer()->slot("velocity")[0].value(),
             model->optimizer()->slot("velocity")[0].value());
}

TEST_CASE("weights in several files come back, and old files go when the new ones are there") {
  Scratch scratch;
  auto model = trained_model("adam"), other_model = trained_model("adam");
  other_model->train_on_batch({ramp({8, 4})}, {labels(8, 3)});
  const std::string path = scratch.path("m.weights.json");
  const Dict save_options{{"max_shard_size", 100.0 / (1024 * 1024 * 1024)}};
  crescent::save_weights(*model, path, save_options);
  const size_t file_count = scratch.count();
  CHECK(file_count > 4);
  CHECK(fs::exists(scratch.path("m_00000.weights.h5")));
  crescent::load_weights(*other_model, path);
  check_same(model->get_weights(), other_model->get_weights());
  check_same(model->optimizer()->slot("velocity")[0].value(),
             other_model->optimizer()->slot("velocity")[0].value());
  const Value weight_map = parse_json(read_bytes(path));
  CHECK(weight_map.as_dict().at("weight_map").as_dict().at("/optimizer/vars").is_list());
  crescent::save_weights(*model, path, save_options);
  CHECK(scratch.count() == file_count);
  CHECK_FALSE(fs::exists(scratch.path("m_00000.weights.h5")));
  crescent::save_weights(*model, path);
  CHECK(scratch.count() == 2);
  crescent::load_weights(*other_model, path);
  fs::remove(scratch.path("m_00000.weights.h5"));
  CHECK_THAT(failure([&] { crescent::load_weights(*other_model, path); }),
             Catch::Contains("m_00000.weights.h5"));
}

TEST_CASE("a list of weights files that leads elsewhere or nowhere is refused") {
  Scratch scratch;
  auto model = small_sequential();
  const std::string path = scratch.path("m.weights.json");
  for (const char* text :
       {"{}", "[]", R"({"weight_map": 1})", R"({"weight_map": {"/layers/dense/vars": 1}})",
        R"({"weight_map": {"/layers/dense/vars": "../m.weights.h5"}})",
        R"({"weight_map": {"/layers/dense/vars": "/etc/passwd"}})",
        R"({"weight_map": {"/layers/dense/vars": ["a.weights.h5", "/b.weights.h5"]}})"}) {
    CAPTURE(text);
    write_bytes(path, text);
    CHECK_THAT(failure([&] { crescent::load_weights(*model, path); }),
               Catch::Contains("m.weights.json") && Catch::Contains("nothing was loaded"));
  }
}

TEST_CASE("objects are where Keras 3 looks for them") {
  auto lstm = layer("LSTM", {{"units", 2}, {"return_sequences", true}, {"name", "inside"}});
  auto cells = List{configured("LSTMCell", {{"units", 2}}), configured("GRUCell", {{"units", 2}}),
                    configured("LSTMCell", {{"units", 3}})};
  auto inner_model = Sequential::make({layer("Dense", {{"units", 2}, {"input_shape", List{3, 3}}}),
                                       layer("Dense", {{"units", 2}, {"name", "again"}})},
                                      "nested");
  auto model = Sequential::make(
      {layer("Dense", {{"units", 3}, {"input_shape", List{3, 3}}, {"name", "one"}}), inner_model,
       lstm, layer("Dense", {{"units", 2}, {"name", "two"}}),
       layer("RNN", {{"cell", configured("StackedRNNCells", {{"cells", cells}})}})},
      "all");
  Scratch scratch;
  const std::string path = scratch.path("m.weights.h5");
  crescent::save_weights(*model, path);
  KerasFile file(path);
  const std::pair<const char*, const char*> weight_groups[] = {
      {"vars", "all"},
      {"layers/dense/vars", "one"},
      {"layers/dense_1/vars", "two"},
      {"layers/sequential/vars", "nested"},
      {"layers/sequential/layers/dense_1/vars", "again"},
      {"layers/lstm/vars", "inside"}};
  for (const auto& [weight_group, name] : weight_groups) {
    INFO(weight_group);
    CHECK(file.text(weight_group, "name") == std::string(name));
  }
  for (const char* weight_group :
       {"layers/lstm/cell/vars", "layers/rnn/cell/cells/lstm_cell/vars",
        "layers/rnn/cell/cells/gru_cell/vars", "layers/rnn/cell/cells/lstm_cell_1/vars"}) {
    INFO(weight_group);
    CHECK(file.members(weight_group).value_or(keras::Names{}).size() == 3);
  }
  auto cloned_model = clone_model(*model);
  crescent::load_weights(*cloned_model, path);
  check_same(model->get_weights(), cloned_model->get_weights());
}

TEST_CASE(
    "a layer with another number of variables is reported in Keras' words, nothing is loaded") {
  Scratch scratch;
  auto model = small_sequential();
  crescent::save_weights(*model, scratch.path("m.weights.h5"));
  auto other_model = Sequential::make(
      {layer("Dense", {{"units", 8}, {"use_bias", false}, {"input_shape", List{4}}}),
       layer("Dropout", {{"rate", 0.25}}), layer("Dense", {{"units", 3}})});
  const Tensors weights_before = other_model->get_weights();
  CHECK_THAT(failure([&] { crescent::load_weights(*other_model, scratch.path("m.weights.h5")); }),
             Catch::Contains("expected 1 variables, but received 2 variables during loading"));
  check_same(other_model->get_weights(), weights_before);
}

TEST_CASE("archives as Keras writes them: members, order, stored") {
  Scratch scratch;
  crescent::save_model(*trained_model("adam"), scratch.path("m.keras"));
  const std::string bytes = read_bytes(scratch.path("m.keras"));
  const zip::Archive archive(bytes.size(), [&](uint64_t offset, std::span<std::byte> target) {
    std::memcpy(target.data(), bytes.data() + offset, target.size());
  });
  const auto& members = archive.members();
  REQUIRE(members.size() == 3);
  CHECK(members[0].name == "metadata.json");
  CHECK(members[1].name == "config.json");
  CHECK(members[2].name == "model.weights.h5");
  for (const zip::Member& member : members) CHECK_FALSE(member.is_compressed());
  const Value config = parse_json(archive.text(members[1]));
  CHECK(config.as_dict().at("class_name") == Value("Sequential"));
  CHECK(config.as_dict().at("build_config").as_dict().at("input_shape") == Value(List{{}, 4}));
  const Dict& compile = config.as_dict().at("compile_config").as_dict();
  CHECK(compile.at("optimizer").as_dict().at("module") == Value("keras.optimizers"));
  CHECK(compile.at("metrics") == Value(List{"accuracy"}));
}

TEST_CASE("an unpacked archive is read as a folder") {
  Scratch scratch;
  auto model = trained_model("adam");
  crescent::save_model(*model, scratch.path("m.keras"));
  fs::create_directory(scratch.path("folder"));
  for (const auto& [name, text] : members_of_archive(scratch.path("m.keras")))
    write_bytes(scratch.path("folder/" + name), text);
  check_continuation(*model, *crescent::load_model(scratch.path("folder")));
  fs::remove(scratch.path("folder/model.weights.h5"));
  CHECK_THAT(failure([&] { crescent::load_model(scratch.path("folder")); }),
             Catch::Contains("model.weights.h5"));
  fs::remove(scratch.path("folder/config.json"));
  CHECK_THAT(failure([&] { crescent::load_model(scratch.path("folder")); }),
             Catch::Contains("is a folder"));
}

TEST_CASE("an archive without metadata is read; without configuration or weights it is not") {
  Scratch scratch;
  auto model = trained_model("adam");
  const std::string path = scratch.path("m.keras");
  crescent::save_model(*model, path);
  const auto members = members_of_archive(path);
  for (const char* name : {"metadata.json", "config.json", "model.weights.h5"}) {
    auto remaining_members = members;
    remaining_members.erase(name);
    pack(path, remaining_members);
    INFO(name);
    if (name == std::string("metadata.json")) {
      check_same(crescent::load_model(path)->get_weights(), model->get_weights());
    } else {
      CHECK_THAT(failure([&] { crescent::load_model(path); }), Catch::Contains(path));
    }
  }
}

TEST_CASE("a configuration that somebody changed is what counts") {
  Scratch scratch;
  auto model = trained_model("adam");
  const std::string path = scratch.path("m.keras");
  crescent::save_model(*model, path);
  auto members = members_of_archive(path);
  std::string& config = members["config.json"];
  const size_t position = config.find("\"relu\"");
  REQUIRE(position != config.npos);
  config.replace(position, 6, "\"tanh\"");
  pack(path, members);
  const auto loaded_model = crescent::load_model(path);
  CHECK(loaded_model->get_layer("first")->get_config().at("activation") == Value("tanh"));
  check_same(loaded_model->get_weights(), model->get_weights());
}

TEST_CASE("a damaged archive is refused") {
  Scratch scratch;
  const std::string path = scratch.path("m.keras");
  crescent::save_model(*trained_model("adam"), path);
  std::string bytes = read_bytes(path);
  SECTION("a byte of the weights changed") {
    bytes[bytes.find("\x89HDF") + 3000] ^= 1;
    write_bytes(path, bytes);
    CHECK_THAT(failure([&] { crescent::load_model(path); }), Catch::Contains(path));
  }
  SECTION("cut off anywhere") {
    for (size_t size : {size_t{4}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
      write_bytes(path, bytes.substr(0, size));
      CHECK_THAT(failure([&] { crescent::load_model(path); }), Catch::Contains(path));
    }
  }
}

TEST_CASE("a changed byte of an archive never loads as other numbers, and ends no process") {
  Scratch scratch;
  auto model = trained_model("adam");
  const std::string path = scratch.path("m.keras");
  crescent::save_model(*model, path);
  const std::string file_bytes = read_bytes(path);
  std::mt19937 generator(20'261'122);
  int loaded_count = 0, refused_count = 0;
  for (int i = 0; i < 300; ++i) {
    std::string changed_bytes = file_bytes;
    // Every other mutation is within the first 4000 bytes, where the configurations are.
    const size_t size = i % 2 == 0 ? changed_bytes.size() : size_t{4000};
    changed_bytes[generator() % size] ^= static_cast<char>(1 << generator() % 8);
    write_bytes(path, changed_bytes);
    try {
      check_same(crescent::load_model(path)->get_weights(), model->get_weights());
      ++loaded_count;
    } catch (const Error& error) {
      CHECK(contains(error.what(), path));
      ++refused_count;
    }
  }
  WARN("300 mutants: " << loaded_count << " loaded with the same numbers, " << refused_count
                       << " refused");
}

using Arrays = std::vector<std::pair<std::string, Tensor>>;

/// Writes weights as tf.keras 2.12 and 2.13 write them.
void write_old_weights(const std::string& path, const Arrays& arrays) {
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  Handle creation_properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(creation_properties, true);
  for (const auto& [name, tensor] : arrays) {
    std::vector<hsize_t> dims;
    for (int axis = 0; axis < tensor.rank(); ++axis)
      dims.push_back(static_cast<hsize_t>(tensor.dim(axis)));
    Handle space(H5Screate_simple(tensor.rank(), dims.data(), nullptr), H5Sclose);
    Handle dataset_handle(
        H5Dcreate2(file, ("_layer_checkpoint_dependencies/" + name).c_str(), H5T_NATIVE_FLOAT,
                   space, creation_properties, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    REQUIRE(H5Dwrite(dataset_handle, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     tensor.data<float>()) >= 0);
  }
}

TEST_CASE("the group that tf.keras 2.12 has instead of layers is read") {
  Scratch scratch;
  const std::string path = scratch.path("old.weights.h5");
  const Tensor kernel = Tensor::from(std::vector<float>{1, 2}, {2, 1}),
               bias = Tensor::from(std::vector<float>{3}, {1});
  write_old_weights(path, {{"dense/vars/0", kernel}, {"dense/vars/1", bias}});
  auto model = Sequential::make({layer("Dense", {{"units", 1}, {"input_shape", List{2}}})});
  crescent::load_weights(*model, path);
  check_same(model->get_weights(), {kernel, bias});
}

TEST_CASE("attributes that tf.keras hides and Keras 3 shows are found") {
  Scratch scratch;
  const std::string path = scratch.path("old.weights.h5");
  const Symbol input = Input(Shape{3, 4});
  const LayerPtr attention = layer("MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 2}});
  auto model = Functional::make({input}, {(*attention)({input, input}).front()});
  Arrays arrays;
  std::map<std::string, int> count;
  for (const Variable& weight : attention->weights()) {
    const std::string layer_path = weight.path().substr(0, weight.path().rfind('/'));
    const std::string name = layer_path.substr(layer_path.rfind('/') + 1);
    const std::string group = name == "attention_output" ? "_output_dense" : "_" + name + "_dense";
    arrays.push_back({concat("multi_head_attention/", group, "/vars/", count[group]++),
                      Tensor::full(weight.shape(), static_cast<double>(arrays.size()))});
  }
  write_old_weights(path, arrays);
  crescent::load_weights(*model, path);
  for (size_t i = 0; i < arrays.size(); ++i)
    check_same({attention->weights()[i].value()}, {arrays[i].second});
}

TEST_CASE("what an archive cannot be is said") {
  Scratch scratch;
  auto model = trained_model("adam");
  CHECK_THAT(failure([&] { crescent::save_weights(*model, scratch.path("m.keras")); }),
             Catch::Contains(".weights.h5"));
  CHECK_THAT(failure([&] {
               crescent::save_model(*model, scratch.path("m.keras"), {{"target", "keras2"}});
             }),
             Catch::Contains("Keras 3"));
  crescent::save_model(*model, scratch.path("m.keras"));
  CHECK_THAT(failure([&] {
               crescent::save_model(*model, scratch.path("m.keras"), {{"overwrite", false}});
             }),
             Catch::Contains("exists already"));
  auto other_model = small_sequential();
  crescent::load_weights(*other_model, scratch.path("m.keras"));
  check_same(other_model->get_weights(), model->get_weights());
}

TEST_CASE("an optimizer that never trained has its rate in a file, and nothing is reported") {
  const auto model = small_sequential();
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}});
  keras::Entries entries = keras::keras3_weight_entries(*model);
  entries.push_back({"optimizer/vars", {{"name", "adam"}}});
  entries.push_back({"optimizer/vars/0", {}, Tensor::full({}, 0, DType::int64)});
  entries.push_back({"optimizer/vars/1", {}, Tensor::full({}, 0.25)});
  Scratch scratch;
  const std::string path = scratch.path("m.weights.h5");
  const FileImage image(tree_of(entries));
  replace_file(path, image.pieces());
  static std::string last_warning;
  last_warning.clear();
  set_warning_handler([](std::string_view text) { last_warning += text; });
  crescent::load_weights(*model, path);
  set_warning_handler(nullptr);
  CHECK(last_warning.empty());
  CHECK(model->optimizer()->learning_rate().value().item() == 0.25);
}

}  // namespace
}  // namespace crescent::hdf5
