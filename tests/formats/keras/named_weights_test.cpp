// Weights that files of other formats store by name: safetensors and npz.
#include "files/zip/image.h"
#include "models.h"

namespace crescent::hdf5 {
namespace {

constexpr const char* kFiles[] = {"w.safetensors", "w.npz"};

ModelPtr nested_model() {
  auto inner_model =
      Sequential::make({layer("Dense", {{"units", 4}, {"input_shape", List{4}}, {"name", "a"}}),
                        layer("BatchNormalization", {{"name", "norm"}})},
                       "inner");
  return Sequential::make(
      {layer("Dense", {{"units", 4}, {"input_shape", List{4}}, {"name", "a"}}), inner_model,
       layer("Dense", {{"units", 2}, {"use_bias", false}, {"name", "last"}})},
      "outer");
}

TEST_CASE("weights by name come back, nested ones and those of a half-width type too") {
  for (const std::string name : kFiles) {
    CAPTURE(name);
    Scratch scratch;
    auto model = nested_model();
    crescent::save_weights(*model, scratch.path(name));
    auto loaded_model = nested_model();
    crescent::load_weights(*loaded_model, scratch.path(name));
    check_same(model->get_weights(), loaded_model->get_weights());
    check_same(crescent::read_array(scratch.path(name), "inner/norm/gamma"),
               crescent::read_array(scratch.path(name), "inner/norm/moving_variance"));
    check_same(crescent::read_array(scratch.path(name), "last/kernel"),
               model->get_weights().back());
    check_same(crescent::open_array(scratch.path(name), "a/kernel").clone(),
               model->get_weights().front());
  }
  Scratch scratch;
  auto model = Sequential::make(
      {layer("Dense", {{"units", 3}, {"input_shape", List{4}}, {"dtype", "bfloat16"}})});
  crescent::save_weights(*model, scratch.path("w.safetensors"));
  const Tensors weights_before = {model->get_weights()[0].clone(), model->get_weights()[1].clone()};
  model->set_weights({Tensor(weights_before[0].spec()), Tensor(weights_before[1].spec())});
  crescent::load_weights(*model, scratch.path("w.safetensors"));
  check_same(model->get_weights(), weights_before);
  CHECK_THAT(failure([&] { crescent::save_weights(*model, scratch.path("w.npz")); }),
             Catch::Contains("bfloat16"));
}

TEST_CASE("weights of layers that nobody named are found in another process, by their order") {
  const auto make_model = [](int layers_before) {
    for (int i = 0; i < layers_before; ++i) layer("Dense", {{"units", 1}});
    const auto dense = [](int units) {
      return layer("Dense", {{"units", units}, {"input_shape", List{4}}});
    };
    LayerPtr last_layer = dense(4);  // made first, and therefore with the lowest counter
    auto inner_model = Sequential::make({dense(4), dense(4)}, "inner");
    return Sequential::make({dense(4), inner_model, layer("BatchNormalization", {}), last_layer},
                            "outer");
  };
  for (const std::string name : kFiles) {
    CAPTURE(name);
    Scratch scratch;
    auto model = make_model(0), again = make_model(7);
    crescent::save_weights(*model, scratch.path(name));
    crescent::load_weights(*again, scratch.path(name));
    check_same(model->get_weights(), again->get_weights());
    auto named_model = Sequential::make(
        {layer("Dense", {{"units", 4}, {"input_shape", List{4}}, {"name", "mine_1"}})});
    crescent::save_weights(*named_model, scratch.path(name));
    auto other_model = Sequential::make(
        {layer("Dense", {{"units", 4}, {"input_shape", List{4}}, {"name", "mine_2"}})});
    CHECK_THAT(failure([&] { crescent::load_weights(*other_model, scratch.path(name)); }),
               Catch::Contains("there is no array for 'mine_2/kernel'"));
  }
}

TEST_CASE("a format calls its options by its own name, whichever format was asked before") {
  auto model = small_sequential();
  const Dict misspelt_options{{"overwritten", true}};
  for (const auto& [name, format] : {std::pair{"w.safetensors", "safetensors"},
                                     {"w.npz", "npz"},
                                     {"w.h5", "hdf5"},
                                     {"w.weights.json", "sharded"}}) {
    CAPTURE(name);
    Scratch scratch;
    const std::string path = scratch.path(name);
    CHECK_THAT(failure([&] { crescent::save_weights(*model, path, misspelt_options); }),
               Catch::StartsWith(concat(format, ": saving weights")));
    crescent::save_weights(*model, path);
    CHECK_THAT(failure([&] { crescent::load_weights(*model, path, misspelt_options); }),
               Catch::StartsWith(concat(format, ": loading weights")));
  }
}

TEST_CASE("weights that do not belong together are named, and nothing changes") {
  for (const std::string name : kFiles) {
    CAPTURE(name);
    Scratch scratch;
    crescent::save_weights(*nested_model(), scratch.path(name));
    auto other_model = small_sequential();
    const Tensors weights_before = other_model->get_weights();
    CHECK_THAT(failure([&] { crescent::load_weights(*other_model, scratch.path(name)); }),
               Catch::Contains("no array for 'first/kernel', 'first/bias'") &&
                   Catch::Contains("no weight 'a/bias', 'a/kernel'") &&
                   Catch::Contains("nothing was loaded"));
    check_same(other_model->get_weights(), weights_before);
    auto wider_model = Sequential::make(
        {layer("Dense", {{"units", 5}, {"input_shape", List{4}}, {"name", "first"}}),
         layer("Dense", {{"units", 3}, {"name", "last"}})});
    crescent::save_weights(*wider_model, scratch.path(name));
    CHECK_THAT(failure([&] { crescent::load_weights(*other_model, scratch.path(name)); }),
               Catch::Contains("Layer weight shape (4, 8) not compatible"));
    check_same(other_model->get_weights(), weights_before);
  }
}

TEST_CASE("arrays without names are taken in order") {
  Scratch scratch;
  auto model = small_sequential(), other_model = small_sequential();
  NamedTensors numbered_arrays;
  for (const Tensor& weight : model->get_weights())
    numbered_arrays.emplace_back(concat("arr_", numbered_arrays.size()), weight);
  crescent::write_arrays(scratch.path("w.npz"), numbered_arrays);
  crescent::load_weights(*other_model, scratch.path("w.npz"));
  check_same(model->get_weights(), other_model->get_weights());
}

std::string safetensors(const std::string& header, const std::string& data) {
  uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

TEST_CASE("safetensors files that lie are refused before memory is taken") {
  Scratch scratch;
  const std::string path = scratch.path("w.safetensors");
  auto read = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    return failure([&] { crescent::read_array(path, "a"); });
  };
  const std::string data(8, '\1');
  auto file_with = [&](const std::string& type, const std::string& shape,
                       const std::string& offsets) {
    return safetensors(R"({"a":{"dtype":")" + type + R"(","shape":)" + shape +
                           R"(,"data_offsets":)" + offsets + "}}",
                       data);
  };
  write_bytes(path, file_with("F32", "[2]", "[0,8]"));
  CHECK(crescent::read_array(path, "a").shape() == Shape{2});
  write_bytes(path, file_with("BOOL", "[8]", "[0,8]"));
  CHECK(crescent::read_array(path, "a").to_vector() == std::vector<double>(8, 1));
  write_bytes(path, safetensors(R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})",
                                std::string("\0\1\xff", 3)));
  const Tensor booleans = crescent::read_array(path, "a");  // any nonzero byte counts as true
  CHECK(static_cast<const uint8_t*>(booleans.raw())[2] == 1);
  for (const std::string& bytes :
       {std::string("short"), std::string(8, '\xff') + "{}", safetensors("{", data),
        safetensors("[]", ""), file_with("F32", "[3]", "[0,8]"), file_with("F32", "[2]", "[0,16]"),
        file_with("F32", "[2]", "[8,0]"), file_with("F32", "[-2]", "[0,8]"),
        file_with("F32", "[2.5]", "[0,8]"), file_with("F32", "[2]", "[-8,0]"),
        file_with("F32", "[4294967296,4294967296]", "[0,8]"), file_with("F32", "[1]", "[0,4]"),
        file_with("F32", "[1]", "[4,8]"), file_with("F32", "2", "[0,8]"),
        file_with("F32", "[1,1,1,1,1,1,1,1,1,2]", "[0,8]"), safetensors(R"({"a":1})", data),
        safetensors(R"({"a":{"dtype":"F32","shape":[2]}})", data)}) {
    CAPTURE(bytes);
    CHECK_THAT(read(bytes), Catch::Contains("is no safetensors file, or damaged"));
  }
  CHECK_THAT(read(file_with("F8_E4M3", "[8]", "[0,8]")), Catch::Contains("type \"F8_E4M3\""));
  CHECK_THAT(read(file_with("F32", "[2]", "[0,8]").substr(0, 60)),
             Catch::Contains("w.safetensors"));
}

TEST_CASE("an array that stays in its npz archive is that of the checksum") {
  const Scratch scratch;
  const std::string path = scratch.path("w.npz");
  const Tensor numbers = ramp({50, 3});
  crescent::write_arrays(path, {{"x", numbers}});
  check_same(crescent::open_array(path, "x").clone(), numbers);
  std::string bytes = read_bytes(path);
  const std::string number_bytes(static_cast<const char*>(numbers.raw()), numbers.bytes());
  const size_t position = bytes.find(number_bytes);
  REQUIRE(position != bytes.npos);
  bytes[position + 100] ^= 1;
  write_bytes(path, bytes);
  CHECK(
      contains(failure([&] { crescent::open_array(path, "x"); }), "'x.npy': its checksum differs"));
}

TEST_CASE("npz archives that lie are refused") {
  Scratch scratch;
  const std::string path = scratch.path("w.npz");
  auto write_npz = [&](const std::string& text) {
    replace_file(path, zip::Image({{"a.npy", {std::as_bytes(std::span(text))}}}).pieces());
  };
  crescent::write_arrays(scratch.path("a.npy"), {{"a", ramp({3, 4})}});
  const std::string npy = read_bytes(scratch.path("a.npy"));
  write_npz(npy);
  check_same(crescent::read_array(path, "a"), ramp({3, 4}));
  write_npz(npy.substr(0, npy.size() - 1));
  CHECK_THAT(failure([&] { crescent::read_array(path, "a"); }),
             Catch::Contains("expected 48 bytes"));
  write_npz("not an array");
  CHECK_THAT(failure([&] { crescent::read_array(path, "a"); }),
             Catch::Contains("is not an npy file") && Catch::Contains("a.npy"));
  write_bytes(path, "PK\3\4 and no more");
  CHECK_THAT(failure([&] { crescent::read_array(path, "a"); }), Catch::Contains("no directory"));
  CHECK_THAT(failure([&] { crescent::load_model(path); }), Catch::Contains("do not hold models"));
}

}  // namespace
}  // namespace crescent::hdf5
