// Checksums detect parts of a file that are missing, exchanged or renamed: every such change makes
// loading fail, or changes no number.
#include <optional>
#include <random>

#include "models.h"
#include "seal.h"
#include "surgery.h"

namespace crescent::hdf5 {
namespace {

Tensors weights_of(Model& model) {
  Tensors copies;
  for (const Tensor& weight : model.get_weights()) copies.push_back(weight.clone());
  return copies;
}

/// All numbers of a file that predictions or further training depend on.
Tensors numbers_of(Model& model) {
  Tensors numbers = weights_of(model);
  numbers.push_back(model.predict({ramp({5, 4})})[0]);
  model.fit({ramp({16, 4})}, {ramp({16, 4}, 0.02)}, {{"epochs", 1}, {"verbose", 0}});
  for (const Tensor& weight : weights_of(model)) numbers.push_back(weight);
  return numbers;
}

bool are_same(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.spec() == y.spec() && std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
  });
}

/// A kind of file that Crescent writes, and the function that reads its numbers.
struct SavedFileKind {
  const char* file;
  void (*write)(const std::string& path);
  Tensors (*read)(const std::string& path);
};

Tensors loaded_weights(const std::string& path) {
  auto model = trained_model();
  crescent::load_weights(*model, path);
  return weights_of(*model);
}

const SavedFileKind kKinds[] = {
    {"m.h5", [](const std::string& path) { crescent::save_model(*trained_model(), path); },
     [](const std::string& path) { return numbers_of(*crescent::load_model(path)); }},
    {"w.h5", [](const std::string& path) { crescent::save_weights(*trained_model(), path); },
     loaded_weights},
    {"w.weights.h5",
     [](const std::string& path) { crescent::save_weights(*trained_model(), path); },
     loaded_weights},
    {"a.h5",
     [](const std::string& path) {
       crescent::write_arrays(
           path, {{"a", ramp({2, 6})}, {"g/b", ramp({2, 6}, 0.02)}, {"g/c", labels(12, 3)}});
     },
     [](const std::string& path) {
       return Tensors{crescent::read_array(path, "a"), crescent::read_array(path, "g/b"),
                      crescent::read_array(path, "g/c")};
     }}};

/// A saved file. Tests damage copies of it: each change is applied to a fresh copy.
class DamagedFile {
 public:
  explicit DamagedFile(const SavedFileKind& kind = kKinds[0])
      : kind_(kind),
        original_path_(scratch_.path(kind.file)),
        changed_path_(scratch_.path("changed_") + kind.file) {
    kind.write(original_path_);
    numbers_ = kind.read(original_path_);
  }
  /// The error message of loading after the change; nullopt if loading gives unchanged numbers. The
  /// test fails if numbers differ without an error.
  std::optional<std::string> error_after(const std::function<void(Hdf5Changes&)>& change) {
    std::filesystem::copy_file(original_path_, changed_path_,
                               std::filesystem::copy_options::overwrite_existing);
    {
      Hdf5Changes surgery(changed_path_);
      change(surgery);
    }
    return load_error();
  }
  /// Does the same as error_after(), for a change of the file's bytes.
  std::optional<std::string> error_after_bytes(const std::function<void(std::string&)>& change) {
    std::string bytes = read_bytes(original_path_);
    change(bytes);
    write_bytes(changed_path_, bytes);
    return load_error();
  }
  Hdf5Changes surgery() const { return Hdf5Changes(original_path_); }

 private:
  std::optional<std::string> load_error() {
    try {
      const bool is_unchanged = are_same(kind_.read(changed_path_), numbers_);
      CHECK(is_unchanged);
      return std::nullopt;
    } catch (const Error& error) {
      CHECK(contains(error.what(), changed_path_));
      return error.what();
    }
  }

  const SavedFileKind& kind_;
  Scratch scratch_;
  const std::string original_path_, changed_path_;
  Tensors numbers_;
};

TEST_CASE("a file of ours without the checksum of an array, or its seal, is damaged") {
  DamagedFile damaged_file;
  for (const std::string& object : damaged_file.surgery().objects()) {
    if (!damaged_file.surgery().is_dataset(object)) continue;
    CAPTURE(object);
    auto message = damaged_file.error_after([&](Hdf5Changes& s) { s.remove(object, kChecksum); });
    REQUIRE(message);
    CHECK(contains(*message, "'/" + object + "'"));
    CHECK(contains(*message, "damaged: its checksum is missing"));
    CHECK(damaged_file.error_after([&](Hdf5Changes& s) {
      s.change(object, kChecksum,
               [](std::string& bytes) { std::fill(bytes.begin() + 4, bytes.end(), '\0'); });
    }));
  }
}

TEST_CASE("arrays that changed places are seen, with their checksums or without") {
  DamagedFile damaged_file;
  const std::vector<std::string> objects = damaged_file.surgery().objects();
  int swapped_count = 0;
  for (const std::string& a : objects)
    for (const std::string& b : objects) {
      if (!(a < b) || b.starts_with(a + "/") ||
          damaged_file.surgery().is_dataset(a) != damaged_file.surgery().is_dataset(b) || a.empty())
        continue;
      CAPTURE(a, b);
      auto message = damaged_file.error_after([&](Hdf5Changes& s) { s.swap(a, b); });
      CHECK(message);
      ++swapped_count;
    }
  CHECK(swapped_count > 100);
}

TEST_CASE("no change of an attribute or an object loads as other numbers", "[F26]") {
  const SavedFileKind& kind = kKinds[GENERATE(0, 1, 2, 3)];
  CAPTURE(kind.file);
  DamagedFile damaged_file(kind);
  for (const std::string& object : damaged_file.surgery().objects()) {
    CAPTURE(object);
    if (!object.empty()) {
      auto unlink_error = damaged_file.error_after([&](Hdf5Changes& s) { s.unlink(object); });
      auto rename_error =
          damaged_file.error_after([&](Hdf5Changes& s) { s.move(object, object + "_"); });
      if (damaged_file.surgery().is_dataset(object)) CHECK((unlink_error && rename_error));
    }
    for (const std::string& name : damaged_file.surgery().attributes(object)) {
      CAPTURE(name);
      damaged_file.error_after([&](Hdf5Changes& s) { s.remove(object, name); });
      damaged_file.error_after([&](Hdf5Changes& s) { s.rename(object, name, name + "_"); });
      for (const size_t part : {0, 1, 2, 3})
        damaged_file.error_after([&](Hdf5Changes& s) {
          s.change(object, name,
                   [&](std::string& bytes) { bytes[(bytes.size() - 1) * part / 3] ^= 1; });
        });
    }
  }
}

TEST_CASE("no change of bytes loads as other numbers", "[F26]") {
  const char* count = std::getenv("CRESCENT_FUZZ");
  const int mutant_count = count ? std::atoi(count) : 100;
  const SavedFileKind& kind = kKinds[GENERATE(0, 1, 2, 3)];
  CAPTURE(kind.file);
  DamagedFile damaged_file(kind);
  std::mt19937 random(11);
  int loaded_count = 0;
  for (int i = 0; i < mutant_count; ++i) {
    CAPTURE(i);
    loaded_count += !damaged_file.error_after_bytes([&](std::string& bytes) {
      auto random_position = [&](size_t size) { return random() % (bytes.size() - size); };
      const size_t size = size_t{1} << random() % 7;
      switch (random() % 5) {
        case 0:
          bytes[random_position(1)] ^= static_cast<char>(1 << random() % 8);
          break;
        case 1:
          bytes[random_position(1)] = static_cast<char>(random());
          break;
        case 2:
          bytes.replace(random_position(size), size, size, '\0');
          break;
        case 3:
          bytes.replace(random_position(size), size, bytes.substr(random_position(size), size));
          break;
        default: {
          const size_t a = random_position(8) / 8 * 8, b = random_position(8) / 8 * 8;
          for (size_t k = 0; k < 8; ++k) std::swap(bytes[a + k], bytes[b + k]);
        }
      }
    });
  }
  WARN(kind.file << ": " << mutant_count << " mutants, " << loaded_count
                 << " loaded, with the same numbers");
  CHECK(loaded_count < mutant_count);
}

TEST_CASE("nothing starts anew because a group was lost") {
  DamagedFile damaged_file;
  for (const char* group : {"model_weights", "optimizer_weights", "crescent_random"}) {
    auto message = damaged_file.error_after([&](Hdf5Changes& s) { s.unlink(group); });
    REQUIRE(message);
    CHECK(contains(*message, "damaged: '/" + std::string(group) + "' is missing"));
  }
}

TEST_CASE("names of weights in another order are seen") {
  DamagedFile damaged_file;
  for (const char* object : {"model_weights/first", "optimizer_weights"}) {
    auto message = damaged_file.error_after([&](Hdf5Changes& s) {
      s.change(object, "weight_names", [](std::string& bytes) {
        std::rotate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2),
                    bytes.end());
      });
    });
    REQUIRE(message);
    CHECK(contains(*message, "attribute 'weight_names' of '/" + std::string(object) + "'"));
  }
}

TEST_CASE("weights and arrays alone are sealed too") {
  Scratch scratch;
  auto model = trained_model();
  for (const char* name : {"w.h5", "w.weights.h5"}) {
    CAPTURE(name);
    const std::string path = scratch.path(name);
    crescent::save_weights(*model, path);
    std::vector<std::string> kernels;
    for (const std::string& object : Hdf5Changes(path).objects())
      if (Hdf5Changes(path).is_dataset(object)) kernels.push_back(object);
    Hdf5Changes(path).swap(kernels.front(), kernels[2]);
    CHECK(contains(failure([&] { crescent::load_weights(*trained_model(), path); }), "damaged"));
  }
  const std::string path = scratch.path("a.h5");
  auto read = [&] { return failure([&] { crescent::read_array(path, "a"); }); };
  auto write = [&] {
    crescent::write_arrays(path, {{"a", ramp({2, 6})}, {"b", ramp({2, 6}, 0.02)}});
  };
  write(), Hdf5Changes(path).swap("a", "b");
  CHECK(contains(read(), "'/a'"));
  write(), Hdf5Changes(path).remove("a", kChecksum);
  CHECK(contains(read(), "its checksum is missing"));
}

/// Rewrites the file in the form of earlier versions, where only datasets have checksums, and these
/// cover only the bytes of the data.
void make_file_of_earlier_version(const std::string& path) {
  Hdf5Changes surgery(path);
  for (const std::string& object : surgery.objects()) {
    if (!surgery.is_dataset(object)) {
      for (const std::string& name : surgery.attributes(object))
        if (name == kSeals || name == kContents) surgery.remove(object, name);
    } else {
      surgery.change(object, kChecksum,
                     [](std::string& bytes) { std::fill(bytes.begin() + 4, bytes.end(), '\0'); });
    }
  }
}

TEST_CASE("files from before there were seals are read, their checksums compared", "[F28]") {
  Scratch scratch;
  const std::string path = scratch.path("m.h5");
  auto model = trained_model();
  crescent::save_model(*model, path);
  make_file_of_earlier_version(path);
  check_same(crescent::load_model(path)->get_weights(), model->get_weights());
  Hdf5Changes(path).remove("model_weights/first/first/bias", kChecksum);
  CHECK(contains(failure([&] { crescent::load_model(path); }), "its checksum is missing"));
}

TEST_CASE("others may add attributes and objects to a file of ours, and take ours away") {
  DamagedFile damaged_file;
  auto add = [](const Hdf5Changes& s, const std::string& object, const char* name) {
    Handle scalar(H5Screate(H5S_SCALAR), H5Sclose), parent = s.open(object);
    Handle attribute(H5Acreate2(parent, name, H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose);
    REQUIRE(attribute.valid());
  };
  CHECK_FALSE(damaged_file.error_after([&](Hdf5Changes& s) {
    add(s, "", "comment");
    add(s, "model_weights/first", "comment");
    add(s, "model_weights/first/first/bias", "comment");
  }));
  CHECK_FALSE(damaged_file.error_after([&](Hdf5Changes& s) { s.remove("", kOwnAttribute); }));
}

}  // namespace
}  // namespace crescent::hdf5
