// Files with some changed bytes, or truncated: loading returns arrays or an error and never ends
// the process.
#include <random>

#include "crescent/io/format.h"
#include "scratch.h"

namespace crescent::hdf5 {
namespace {

/// A file with variable-length strings, as h5py writes them. Damaged strings of this kind are the
/// most frequent cause of crashes in libhdf5 1.10.
std::string file_with_variable_texts(const Scratch& scratch) {
  std::string path = scratch.path("seed.h5");
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(text, H5T_VARIABLE);
  auto attribute = [&](hid_t object, const char* name, const char* value) {
    Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    Handle created(H5Acreate2(object, name, text, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    H5Awrite(created, text, &value);
  };
  attribute(file, "model_config", R"({"class_name": "Sequential", "config": []})");
  Handle group(H5Gcreate2(file, "model_weights", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  hsize_t two = 2, six = 6;
  Handle pair_space(H5Screate_simple(1, &two, nullptr), H5Sclose);
  const char* names[] = {"dense_1", "dense_2"};
  Handle names_attribute(
      H5Acreate2(group, "layer_names", text, pair_space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  H5Awrite(names_attribute, text, names);
  for (const char* name : names) {
    Handle space(H5Screate_simple(1, &six, nullptr), H5Sclose);
    Handle dataset_handle(
        H5Dcreate2(group, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    float values[6] = {1, 2, 3, 4, 5, 6};
    H5Dwrite(dataset_handle, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  }
  return path;
}

/// Reads all parts of a file that loading a model reads.
void read_all_parts(const std::string& path) {
  FileReader reader(path);
  reader.text("", "model_config");
  std::vector<std::string> datasets;
  for (const std::string& name :
       reader.texts("model_weights", "layer_names").value_or(std::vector<std::string>{}))
    datasets.push_back("model_weights/" + name);
  reader.members("model_weights");
  reader.read(datasets, reader.describe(datasets));
}

struct LoadCounts {
  int loaded_count = 0, refused_count = 0, reader_death_count = 0;
  void run(const std::string& path) {
    try {
      read_all_parts(path);
      ++loaded_count;
    } catch (const Error& error) {
      contains(error.what(), "damaged or hostile") ? ++reader_death_count : ++refused_count;
      CHECK(contains(error.what(), path));
    }
  }
};

TEST_CASE("damaged files never end the process", "[F14]") {
  Scratch scratch;
  std::string original_bytes = read_bytes(file_with_variable_texts(scratch)),
              path = scratch.path("mutant.h5");
  std::mt19937 random(20'240'229);
  LoadCounts load_counts;
  for (int i = 0; i < 400; ++i) {
    std::string changed_bytes = original_bytes;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes)
      changed_bytes[random() % changed_bytes.size()] = static_cast<char>(random());
    write_bytes(path, changed_bytes);
    load_counts.run(path);
  }
  for (uint64_t value :
       {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 63, uint64_t{0x7fffffffffffffff}, uint64_t{4096}})
    for (int i = 0; i < 40; ++i) {
      std::string changed_bytes = original_bytes;
      std::memcpy(changed_bytes.data() + random() % (changed_bytes.size() - 8), &value, 8);
      write_bytes(path, changed_bytes);
      load_counts.run(path);
    }
  WARN("600 mutants: " << load_counts.loaded_count << " loaded, " << load_counts.refused_count
                       << " refused, " << load_counts.reader_death_count << " readers died");
  CHECK(load_counts.loaded_count + load_counts.refused_count + load_counts.reader_death_count ==
        600);
}

constexpr const char* kCircles = CRESCENT_SOURCE_DIR "/tests/fuzz/findings/circles.h5";

TEST_CASE("F14: texts that would send libhdf5 in circles are damage", "[F14]") {
  const std::string message = failure([] { crescent::load_model(kCircles); });
  CHECK(contains(message, kCircles));
  CHECK(contains(message, "its texts at byte 2048 have no end"));
}

TEST_CASE("F14: an operation where a layer was has no options of the layer", "[F14]") {
  const std::string path = CRESCENT_SOURCE_DIR "/tests/fuzz/findings/layeas.h5";
  CHECK(contains(failure([&] { crescent::load_model(path); }), "expected a model"));
}

TEST_CASE("F14: a file that sends libhdf5 in circles is given up", "[F14]") {
  Scratch scratch;
  const std::string path = scratch.path("circles.h5");
  std::filesystem::copy_file(kCircles, path);
  // Files of this size or larger are not searched for strings.
  std::filesystem::resize_file(path, (16 << 20) + 1);
  const std::string message = failure([&] { crescent::load_model(path); });
  CHECK(contains(message, path));
  CHECK(contains(message, "damaged or hostile"));
}

TEST_CASE("truncated files are refused") {
  Scratch scratch;
  std::string seed = read_bytes(file_with_variable_texts(scratch)), path = scratch.path("short.h5");
  for (size_t size = 0; size < seed.size(); size += seed.size() / 40) {
    write_bytes(path, seed.substr(0, size));
    CAPTURE(size);
    CHECK_FALSE(failure([&] { read_all_parts(path); }).empty());
  }
}

TEST_CASE("failed loads leave no descriptor behind", "[F22]") {
  Scratch scratch;
  write_bytes(scratch.path("bad.h5"), std::string(3000, 'b'));
  auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  auto descriptors_before = descriptors();
  for (int i = 0; i < 50; ++i) failure([&] { read_all_parts(scratch.path("bad.h5")); });
  CHECK(descriptors() == descriptors_before);
}

}  // namespace
}  // namespace crescent::hdf5
