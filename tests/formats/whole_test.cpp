// Checksums over whole files: the error names an array that is missing, added, or from another
// file; a file that another program has rewritten is read without checksums.
#include "seal.h"
#include "surgery.h"

namespace crescent::hdf5 {
namespace {

constexpr const char* kKernel = "model_weights/first/first/kernel";

std::string saved_path(const Scratch& scratch, const char* name, double rate = 0.001) {
  const std::string path = scratch.path(name);
  crescent::save_model(*trained_model(rate), path);
  return path;
}

std::string error_message(const std::string& path) {
  return failure([&] { crescent::load_model(path); });
}

TEST_CASE("an array that was added to a file of ours is named") {
  Scratch scratch;
  for (const char* name :
       {"extra", "model_weights/drop/extra", "model_weights/first/first/extra"}) {
    CAPTURE(name);
    const std::string path = saved_path(scratch, "m.h5");
    Hdf5Changes(path).add(name);
    const std::string message = error_message(path);
    CHECK(contains(message, "was changed since it was saved: '/" + std::string(name) + "'"));
  }
  const std::string weights = scratch.path("m.weights.h5");
  crescent::save_weights(*trained_model(), weights);
  Hdf5Changes(weights).add("layers/dense/vars/2");
  CHECK(contains(failure([&] { crescent::load_weights(*trained_model(), weights); }),
                 "'/layers/dense/vars/2' was added"));
}

TEST_CASE("an array that nobody would ask for is missed too") {
  Scratch scratch;
  const std::string path = scratch.path("a.h5");
  crescent::write_arrays(path, {{"a", ramp({2, 6})}, {"b", ramp({3})}});
  Hdf5Changes(path).unlink("b");
  CHECK(contains(failure([&] { crescent::read_arrays(path); }), "it is damaged: '/b' is missing"));
  CHECK(contains(failure([&] { crescent::read_array(path, "a"); }), "'/b' is missing"));
}

TEST_CASE("an array or a group of another file of ours is seen, though it fits") {
  Scratch scratch;
  const std::string other_path = saved_path(scratch, "other.h5", 0.5);
  for (const char* object : {kKernel, "model_weights/first", "optimizer_weights"}) {
    CAPTURE(object);
    const std::string path = saved_path(scratch, "m.h5");
    Hdf5Changes(path).unlink(object);
    Hdf5Changes(path).copy(Hdf5Changes(other_path), object, object);
    CHECK(contains(error_message(path), "it is not what was saved under this name"));
  }
}

bool is_crescent_attribute(const std::string& name) { return name.starts_with("crescent"); }

/// Removes what Crescent adds to files of Keras. This is lost when another program rewrites a file.
void remove_crescent_attributes(const std::string& path) {
  const Hdf5Changes surgery(path);
  for (const std::string& object : surgery.objects())
    for (const std::string& name : surgery.attributes(object))
      if (is_crescent_attribute(name)) surgery.remove(object, name);
  for (const char* group : {"crescent_random", "crescent_callbacks", "crescent_states"})
    for (const std::string& object : surgery.objects())
      if (object == group) surgery.unlink(object);
}

TEST_CASE("a list of metrics in a file of Keras 2 is for every output") {
  Scratch scratch;
  const Symbol in = Input({3});
  auto model = Functional::make({in}, {(*layer("Dense", {{"units", 1}, {"name", "a"}}))(in),
                                       (*layer("Dense", {{"units", 1}, {"name", "b"}}))(in)});
  model->compile({{"loss", "mse"}, {"metrics", List{"mae", "mape"}}});
  const std::string path = scratch.path("m.h5");
  crescent::save_model(*model, path, {{"target", "keras2"}});
  CHECK(crescent::load_model(path)->metrics_names() == model->metrics_names());
  remove_crescent_attributes(path);
  CHECK(crescent::load_model(path)->metrics_names().size() == 3 + 4);
}

TEST_CASE("a file that another program wrote over ours is its own, whatever is left of us") {
  Scratch scratch;
  const std::string own_path = saved_path(scratch, "ours.h5"),
                    path = saved_path(scratch, "m.h5", 0.5);
  const auto wanted = crescent::load_model(path)->get_weights();
  remove_crescent_attributes(path);
  check_same(crescent::load_model(path)->get_weights(), wanted);
  for (const char* name : {kOwnAttribute, kSeals, kContents})
    Hdf5Changes(path).copy_attribute(Hdf5Changes(own_path), name);
  check_same(crescent::load_model(path)->get_weights(), wanted);

  // If a single object has a checksum, the file counts as written by Crescent, and the missing
  // checksums of the other objects are an error.
  Hdf5Changes(path).copy(Hdf5Changes(own_path), "crescent_random", "crescent_random");
  CHECK(contains(error_message(path), "damaged"));
}

TEST_CASE("a list of what a file holds is not lost without being missed", "[F26]") {
  Scratch scratch;
  const std::string path = saved_path(scratch, "m.h5");
  Hdf5Changes(path).remove("", kContents);
  CHECK(contains(error_message(path), "damaged"));
  saved_path(scratch, "m.h5");
  Hdf5Changes(path).remove("", kSeals);
  CHECK(contains(error_message(path), "damaged"));
}

/// Removes the list of objects and its checksum, which files of earlier versions do not have.
void remove_list(const std::string& path) {
  const Hdf5Changes surgery(path);
  surgery.remove("", kContents);
  surgery.change("", kSeals, [](std::string& bytes) {
    const size_t name = bytes.find(kContents), digits = 9;
    bytes.replace(name - digits, digits + std::strlen(kContents), digits + std::strlen(kContents),
                  '\0');
  });
}

TEST_CASE("files with seals from before there was a list are read", "[F28]") {
  Scratch scratch;
  const std::string path = saved_path(scratch, "m.h5");
  const auto wanted = crescent::load_model(path)->get_weights();
  remove_list(path);
  check_same(crescent::load_model(path)->get_weights(), wanted);
  Hdf5Changes(path).add("extra");
  check_same(crescent::load_model(path)->get_weights(), wanted);
  Hdf5Changes(path).swap(kKernel, "model_weights/second/second/kernel");
  CHECK(contains(error_message(path), "it is not what was saved under this name"));
}

TEST_CASE("an array that stays in its file is compared as it is read", "[F26]") {
  Scratch scratch;
  const int64_t rows = 1100, columns = 1000;  // 4.4 MB: two whole pieces and a part of one
  const Tensor wanted = ramp({rows, columns});
  for (const char* name : {"a.h5", "a.safetensors"}) {
    CAPTURE(name);
    const std::string path = scratch.path(name);
    crescent::write_arrays(path, {{"a", wanted}, {"small", ramp({4})}});
    check_same(crescent::open_array(path, "a").clone(), wanted);
    std::string bytes = read_bytes(path);
    const auto* last_bytes = static_cast<const char*>(wanted.raw()) + wanted.bytes() - 64;
    bytes[bytes.rfind(std::string(last_bytes, 64)) + 30] ^= 1;
    write_bytes(path, bytes);

    const Tensor array = crescent::open_array(path, "a");
    check_same(array.view_rows(3, 900).clone(), wanted.view_rows(3, 900).clone());
    for (const int64_t first : {0, 1060})
      CHECK_THAT(failure([&] { array.view_rows(first, 1070 - first).clone(); }),
                 Catch::Contains("a' is damaged: bytes 4194304 to 4400000"));
    check_same(crescent::open_array(path, "small").clone(), ramp({4}));
  }
}

TEST_CASE("checksums of pieces that do not fit their array are damage", "[F26]") {
  Scratch scratch;
  const std::string path = scratch.path("a.h5");
  const auto write = [&] { crescent::write_arrays(path, {{"a", ramp({1100, 1000})}}); };
  const auto open_failure = [&] { return failure([&] { crescent::open_array(path, "a"); }); };
  write(), Hdf5Changes(path).change("a", kPieces, [](std::string& bytes) { bytes[1] ^= 1; });
  CHECK_THAT(open_failure(),
             Catch::Contains("'/a' is damaged: its checksums contradict each other"));
  write(), Hdf5Changes(path).remove("a", kPieces);
  CHECK_THAT(open_failure(), Catch::Contains("its checksum is missing"));
}

TEST_CASE("safetensors files with seals without names are read, and compared", "[F28]") {
  Scratch scratch;
  const std::string path = scratch.path("w.safetensors");
  const Tensor wanted = ramp({1100, 1000});
  crescent::write_arrays(path, {{"a", wanted}});
  std::string bytes = read_bytes(path);
  const std::string seal_begin = R"("crescent_seals": "{\"a\": \")", seal_end = R"(\"}")";
  const size_t begin = bytes.find(seal_begin),
               size = bytes.find(seal_end, begin) + seal_end.size() - begin;
  REQUIRE(begin != bytes.npos);
  std::string checksum_entry =
      "\"crescent_crc32c\": \"" + bytes.substr(begin + seal_begin.size(), 8) + "\"";
  checksum_entry.resize(size, ' ');
  bytes.replace(begin, size, checksum_entry);
  write_bytes(path, bytes);
  check_same(crescent::read_array(path, "a"), wanted);
  bytes.back() ^= 1;
  write_bytes(path, bytes);
  CHECK_THAT(failure([&] { crescent::read_array(path, "a"); }), Catch::Contains("damaged: 'a'"));
}

TEST_CASE("an array that a safetensors file has too few is named", "[F26]") {
  Scratch scratch;
  const std::string path = scratch.path("w.safetensors");
  crescent::write_arrays(path, {{"a", ramp({2, 3})}, {"b", ramp({2, 3}, 0.02)}});
  std::string bytes = read_bytes(path);
  const size_t begin = bytes.find(", \"b\": {"), end = bytes.find('}', begin) + 1;
  REQUIRE(begin != bytes.npos);
  bytes.replace(begin, end - begin, end - begin, ' ');
  bytes.resize(bytes.size() - ramp({2, 3}).bytes());
  write_bytes(path, bytes);
  CHECK_THAT(failure([&] { crescent::read_array(path, "a"); }), Catch::Contains("'b' is missing"));
}

}  // namespace
}  // namespace crescent::hdf5
