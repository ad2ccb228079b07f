// Maliciously crafted files: loading each of them fails quickly, with a message that names its
// path, and opens no other file.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <thread>

#include "crescent/io/format.h"
#include "crescent/model/model.h"
#include "scratch.h"

namespace crescent::hdf5 {
namespace {

/// A file that is written with the C interface of HDF5, so that its contents can contradict each
/// other.
class CraftedFile {
 public:
  CraftedFile(const Scratch& scratch, H5F_libver_t version = H5F_LIBVER_EARLIEST)
      : path(scratch.path("hostile.h5")) {
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST);
    // Closing the file closes all objects in it that are still open.
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    REQUIRE(file >= 0);
  }
  ~CraftedFile() { close(); }
  void close() {
    if (file >= 0) H5Fclose(file);
    file = -1;
  }
  void dataset(const char* name, hid_t type, std::vector<hsize_t> dims,
               hid_t creation = H5P_DEFAULT, const void* data = nullptr) {
    Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
    Handle dataset_handle(H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                          H5Dclose);
    REQUIRE(dataset_handle.valid());
    if (data) REQUIRE(H5Dwrite(dataset_handle, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  }

  std::string path;
  hid_t file = -1;
};

Handle creation() { return Handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose); }

/// The message of the error when the file is loaded; checks that the error comes quickly.
std::string refusal_message(CraftedFile& crafted, const std::string& dataset) {
  crafted.close();
  auto start = std::chrono::steady_clock::now();
  std::string message = failure([&] { read_one(crafted.path, dataset); });
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  CHECK(contains(message, crafted.path));
  return message;
}

TEST_CASE("links that lead elsewhere are not followed", "[F09][F10][F17]") {
  Scratch scratch;
  CraftedFile other_file(scratch);
  std::vector<float> secret_values{1, 2, 3};
  other_file.dataset("w", H5T_NATIVE_FLOAT, {3}, H5P_DEFAULT, secret_values.data());
  other_file.close();
  std::filesystem::rename(other_file.path, scratch.path("other.h5"));

  CraftedFile crafted(scratch);
  crafted.dataset("w", H5T_NATIVE_FLOAT, {3}, H5P_DEFAULT, secret_values.data());
  SECTION("external") {
    H5Lcreate_external(scratch.path("other.h5").c_str(), "/w", crafted.file, "x", H5P_DEFAULT,
                       H5P_DEFAULT);
    CHECK(contains(refusal_message(crafted, "x"), "link"));
  }
  SECTION("soft") {
    H5Lcreate_soft("/w", crafted.file, "x", H5P_DEFAULT, H5P_DEFAULT);
    CHECK(contains(refusal_message(crafted, "x"), "link"));
  }
  SECTION("soft, to itself") {
    H5Lcreate_soft("/x", crafted.file, "x", H5P_DEFAULT, H5P_DEFAULT);
    CHECK(contains(refusal_message(crafted, "x"), "link"));
  }
  SECTION("through a hard cycle, which only a path of the file's reader can enter") {
    Handle group(H5Gcreate2(crafted.file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    H5Lcreate_hard(crafted.file, "g", group, "g", H5P_DEFAULT, H5P_DEFAULT);
    std::string path = "g";
    for (int i = 0; i < 1000; ++i) path += "/g";
    CHECK(contains(refusal_message(crafted, path), "path"));
  }
}

TEST_CASE("storage outside the file is not opened", "[F11][F12]") {
  Scratch scratch;
  CraftedFile crafted(scratch, H5F_LIBVER_V110);
  Handle properties = creation();
  SECTION("external storage") {
    H5Pset_external(properties, "/etc/passwd", 0, 40);
    crafted.dataset("x", H5T_NATIVE_FLOAT, {10}, properties);
    CHECK(contains(refusal_message(crafted, "x"), "another file"));
  }
  SECTION("virtual dataset") {
    hsize_t dims = 10;
    Handle space(H5Screate_simple(1, &dims, nullptr), H5Sclose);
    H5Pset_virtual(properties, space, "/tmp/other.h5", "w", space);
    crafted.dataset("x", H5T_NATIVE_FLOAT, {10}, properties);
    CHECK(contains(refusal_message(crafted, "x"), "other files"));
  }
}

TEST_CASE("shapes that lie are found before memory is taken", "[F07][F08][F13]") {
  Scratch scratch;
  CraftedFile crafted(scratch);
  Handle properties = creation();
  SECTION("2^40 numbers that are not there") {
    crafted.dataset("x", H5T_NATIVE_FLOAT, {hsize_t{1} << 40});
    CHECK(contains(refusal_message(crafted, "x"), "promises"));
  }
  SECTION("a product that wraps around") {
    hsize_t chunk[] = {1, 1};
    H5Pset_chunk(properties, 2, chunk);
    crafted.dataset("x", H5T_NATIVE_FLOAT, {hsize_t{1} << 32, hsize_t{1} << 31}, properties);
    CHECK(contains(refusal_message(crafted, "x"), "impossibly large"));
  }
  SECTION("chunks, packed, never written") {
    hsize_t chunk = 1 << 20;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_deflate(properties, 9);
    crafted.dataset("x", H5T_NATIVE_FLOAT, {hsize_t{1} << 32}, properties);
    CHECK(contains(refusal_message(crafted, "x"), "promises"));
  }
  SECTION("many of them, none large") {
    hsize_t chunk = 1 << 20;
    H5Pset_chunk(properties, 1, &chunk);
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) {
      names.push_back(std::to_string(i));
      crafted.dataset(names.back().c_str(), H5T_NATIVE_FLOAT, {hsize_t{1} << 23}, properties);
    }
    crafted.close();
    FileReader reader(crafted.path);
    const auto infos = reader.describe(names);
    CHECK(contains(failure([&] { reader.read(names, infos); }), "promises"));
  }
  SECTION("one giant chunk") {
    hsize_t chunk = hsize_t{1} << 29;
    H5Pset_chunk(properties, 1, &chunk);
    crafted.dataset("x", H5T_NATIVE_FLOAT, {hsize_t{1} << 29}, properties);
    CHECK(contains(refusal_message(crafted, "x"), "chunks"));
  }
}

TEST_CASE("unknown filters and what holds no numbers", "[F16][F24]") {
  Scratch scratch;
  CraftedFile crafted(scratch);
  Handle properties = creation();
  SECTION("a filter that a library would have to be loaded for") {
    hsize_t chunk = 4;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_filter(properties, 32999, H5Z_FLAG_OPTIONAL, 0, nullptr);
    crafted.dataset("x", H5T_NATIVE_FLOAT, {4}, properties);
    CHECK(contains(refusal_message(crafted, "x"), "32999"));
  }
  SECTION("texts") {
    Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    crafted.dataset("x", text, {4});
    CHECK(contains(refusal_message(crafted, "x"), "numbers"));
  }
  SECTION("a compound") {
    Handle compound_type(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);
    H5Tinsert(compound_type, "a", 0, H5T_NATIVE_FLOAT);
    crafted.dataset("x", compound_type, {4});
    CHECK(contains(refusal_message(crafted, "x"), "numbers"));
  }
  SECTION("a group") {
    Handle group(H5Gcreate2(crafted.file, "x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    CHECK(contains(refusal_message(crafted, "x"), "not a dataset"));
  }
  SECTION("nothing") { CHECK(contains(refusal_message(crafted, "x\033[31m"), "'/x?[31m'")); }
}

TEST_CASE("attributes without bound", "[F19]") {
  Scratch scratch;
  CraftedFile crafted(scratch, H5F_LIBVER_V18);
  SECTION("too many") {
    Handle scalar_space(H5Screate(H5S_SCALAR), H5Sclose);
    for (int i = 0; i < 5000; ++i)
      Handle(H5Acreate2(crafted.file, ("a" + std::to_string(i)).c_str(), H5T_NATIVE_INT,
                        scalar_space, H5P_DEFAULT, H5P_DEFAULT),
             H5Aclose);
    crafted.close();
    CHECK(contains(failure([&] { FileReader(crafted.path).text("", "model_config"); }),
                   "attributes"));
  }
  SECTION("too large") {
    Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(text, size_t{80} << 20);
    Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    std::string zeros(size_t{80} << 20, 'x');
    {
      Handle attribute(
          H5Acreate2(crafted.file, "model_config", text, scalar, H5P_DEFAULT, H5P_DEFAULT),
          H5Aclose);
      REQUIRE(attribute.valid());
      H5Awrite(attribute, text, zeros.data());
    }
    crafted.close();
    CHECK(contains(failure([&] { FileReader(crafted.path).text("", "model_config"); }),
                   "larger than any attribute"));
  }
  SECTION("of another kind") {
    hsize_t two = 2;
    Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose);
    Handle(
        H5Acreate2(crafted.file, "model_config", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    crafted.close();
    CHECK(contains(failure([&] { FileReader(crafted.path).text("", "model_config"); }),
                   "'model_config'"));
  }
}

TEST_CASE("F18: groups in groups and links without number are not walked through", "[F18]") {
  Scratch scratch;
  CraftedFile crafted(scratch, H5F_LIBVER_V18);
  const auto group_in = [](hid_t parent, const char* name) {
    return Handle(H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  };
  SECTION("20,000 groups, each in the one before") {
    Handle group = group_in(crafted.file, "model_weights");
    for (int i = 0; i < 20'000; ++i) group = group_in(group, "g");
  }
  SECTION("70,000 links in a group") {
    Handle group = group_in(crafted.file, "model_weights");
    for (int i = 0; i < 70'000; ++i)
      H5Lcreate_hard(crafted.file, "model_weights", group, std::to_string(i).c_str(), H5P_DEFAULT,
                     H5P_DEFAULT);
    crafted.close();
    CHECK_FALSE(failure([&] { FileReader(crafted.path).members("model_weights"); }).empty());
  }
  crafted.close();
  const std::clock_t start = std::clock();
  CHECK_FALSE(failure([&] { crescent::load_model(crafted.path); }).empty());
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 0.2);
}

TEST_CASE("what is no file, or no HDF5 file", "[F20]") {
  Scratch scratch;
  auto open_failure = [](const std::string& path) {
    return failure([&] { FileReader reader(path); });
  };
  REQUIRE(mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  CHECK(contains(open_failure(scratch.path("pipe")), "not a regular file"));
  CHECK(contains(open_failure(scratch.path("")), "directory"));
  CHECK(contains(open_failure("/dev/zero"), "not a regular file"));
  CHECK(contains(open_failure(scratch.path("absent")), "No such file"));
  write_bytes(scratch.path("empty"), "");
  CHECK(contains(open_failure(scratch.path("empty")), "empty"));
  write_bytes(scratch.path("text"), std::string(5000, 't'));
  CHECK(contains(open_failure(scratch.path("text")), "signature"));
}

TEST_CASE("a reader that hangs is given up when the user interrupts") {
  Scratch scratch;
  CraftedFile crafted(scratch);
  std::vector<float> values{1, 2, 3};
  crafted.dataset("x", H5T_NATIVE_FLOAT, {3}, H5P_DEFAULT, values.data());
  crafted.close();
  const InterruptScope interrupt_scope;
  FileReader reader(crafted.path);
  pid_t child = -1;
  std::ifstream("/proc/thread-self/children") >> child;
  REQUIRE(child > 0);
  REQUIRE(kill(child, SIGSTOP) == 0);
  std::vector<std::string> names{"x"};
  SECTION("while it should answer") {}
  SECTION("while it should take a long request") { names.resize(100'000, "x"); }
  auto start = std::chrono::steady_clock::now();
  std::thread interrupting_thread([runs = Interruption::current()] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    runs->request();
  });
  CHECK_THROWS_AS(reader.describe(names), Interrupted);
  interrupting_thread.join();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  clear_interrupt();
  CHECK(contains(failure([&] { reader.describe({"x"}); }), "open the file again"));
}

TEST_CASE("honest files of other writers are read", "[F24]") {
  Scratch scratch;
  CraftedFile crafted(scratch);
  Handle properties = creation();
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  SECTION("big-endian") {
    crafted.dataset("x", H5T_IEEE_F32BE, {6});
    Handle dataset_handle(H5Dopen2(crafted.file, "x", H5P_DEFAULT), H5Dclose);
    H5Dwrite(dataset_handle, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  SECTION("chunks, shuffled, packed, with checksums") {
    hsize_t chunk = 4;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 6);
    H5Pset_fletcher32(properties);
    crafted.dataset("x", H5T_NATIVE_FLOAT, {6}, properties, values.data());
  }
  SECTION("compact") {
    H5Pset_layout(properties, H5D_COMPACT);
    crafted.dataset("x", H5T_NATIVE_FLOAT, {6}, properties, values.data());
  }
  crafted.close();
  Array x = read_one(crafted.path, "x");
  REQUIRE(x.type == ElementType::float32);
  CHECK(std::memcmp(x.bytes, values.data(), sizeof(float) * 6) == 0);
}

TEST_CASE("narrow integers stay, and unsigned ones become int64", "[F24]") {
  Scratch scratch;
  CraftedFile crafted(scratch);
  std::vector<int16_t> int16_values{-3, 7};
  std::vector<uint32_t> uint32_values{4'000'000'000u, 1};
  crafted.dataset("small", H5T_NATIVE_INT16, {2}, H5P_DEFAULT, int16_values.data());
  crafted.dataset("large", H5T_NATIVE_UINT32, {2}, H5P_DEFAULT, uint32_values.data());
  crafted.close();
  Array a = read_one(crafted.path, "small"), b = read_one(crafted.path, "large");
  REQUIRE(a.type == ElementType::int16);
  CHECK(static_cast<const int16_t*>(a.bytes)[0] == -3);
  REQUIRE(b.type == ElementType::int64);
  CHECK(static_cast<const int64_t*>(b.bytes)[0] == 4'000'000'000);
}

}  // namespace
}  // namespace crescent::hdf5
