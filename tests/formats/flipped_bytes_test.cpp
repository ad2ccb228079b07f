// One byte of a file is changed. In every format and at every position, loading must fail or give
// the numbers that were saved (F26 of tests/faults/README.md).
#include "models.h"

namespace crescent::hdf5 {
namespace {

/// A kind of file, and the distance between the bytes that are changed; it is larger for HDF5,
/// whose reading in another process is slow.
struct SavedFileKind {
  const char* file;
  size_t position_step;
  bool is_whole_model;
};
constexpr SavedFileKind kKinds[] = {{"m.h5", 331, true},         {"m.keras", 331, true},
                                    {"w.h5", 167, false},        {"w.weights.h5", 167, false},
                                    {"w.safetensors", 1, false}, {"w.npz", 1, false}};

ModelPtr tiny_model() {
  return Sequential::make({layer("Dense", {{"units", 3}, {"input_shape", List{2}}, {"name", "a"}}),
                           layer("Dense", {{"units", 2}, {"name", "b"}})},
                          "tiny");
}

Tensors weights_in(const SavedFileKind& kind, const std::string& path, Model& target_model) {
  if (kind.is_whole_model) return crescent::load_model(path)->get_weights();
  crescent::load_weights(target_model, path);
  return target_model.get_weights();
}

TEST_CASE("a flipped byte never loads as other numbers", "[F26]") {
  set_warning_handler([](std::string_view) {});
  for (const SavedFileKind& kind : kKinds) {
    CAPTURE(kind.file);
    Scratch scratch;
    const std::string path = scratch.path(kind.file);
    const auto model = tiny_model(), target_model = tiny_model();
    if (kind.is_whole_model)
      crescent::save_model(*model, path);
    else
      crescent::save_weights(*model, path);
    const std::string saved_bytes = read_bytes(path);
    const Tensors wanted = model->get_weights(), other_weights = target_model->get_weights();
    int loaded_count = 0, refused_count = 0;
    for (size_t position = 0; position < saved_bytes.size(); position += kind.position_step)
      for (const char flipped_bits : {'\x01', '\xff'}) {
        std::string bytes = saved_bytes;
        bytes[position] ^= flipped_bits;
        write_bytes(path, bytes);
        target_model->set_weights(other_weights);
        Tensors got;
        try {
          got = weights_in(kind, path, *target_model);
          ++loaded_count;
        } catch (const Error&) {
          ++refused_count;
          continue;
        }
        CAPTURE(position);
        check_same(got, wanted);
      }
    CHECK(refused_count > loaded_count / 8);
    std::printf("fault: F26 %s, %d flipped bytes: %d refused, %d loaded as they were saved\n",
                kind.file, loaded_count + refused_count, refused_count, loaded_count);
  }
  set_warning_handler(nullptr);
}

TEST_CASE("arrays that are exchanged, renamed or missing in a safetensors file are named") {
  Scratch scratch;
  const std::string path = scratch.path("w.safetensors");
  const auto write = [&] {
    crescent::write_arrays(path, {{"a", ramp({2, 3})}, {"b", ramp({2, 3}, 0.02)}});
  };
  const auto change = [&](const std::string& from, const std::string& to) {
    std::string bytes = read_bytes(path);
    bytes.replace(bytes.find(from), from.size(), to);
    write_bytes(path, bytes);
  };
  const auto read = [&](const char* name) {
    return failure([&] { crescent::read_array(path, name); });
  };
  write(), change("\"a\"", "\"c\"");
  CHECK_THAT(read("c"), Catch::Contains("'c' was added since it was saved"));
  write(), change("[2, 3]", "[3, 2]");
  CHECK_THAT(read("a"), Catch::Contains("is damaged: 'a'"));
  write(), change("F32", "I32");
  CHECK_THAT(read("a"), Catch::Contains("is damaged: 'a'"));
  check_same(crescent::read_array(path, "b"), ramp({2, 3}, 0.02));
  write(), change("crescent_seals\": \"", "crescent_seals\": \" 1");
  CHECK_THAT(read("a"), Catch::Contains("nothing was loaded"));
}

}  // namespace
}  // namespace crescent::hdf5
