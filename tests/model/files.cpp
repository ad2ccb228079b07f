// Tables and arrays read from files for training, and errors for files that cannot be used.
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "array_files.h"
#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

/// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const char* ending = "") {
    static int count = 0;
    path = "model_test_" + std::to_string(count++) + ending;
    std::ofstream(path, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  std::string path;
};

std::string bytes_of(std::initializer_list<int> values) {
  std::string text;
  for (int v : values) text += static_cast<char>(v);
  return text;
}

}  // namespace

TEST_CASE("csv: headers are seen, texts become class numbers, missing ones NaN") {
  const TemporaryFile file("a,b,kind\r\n1,2.5,x\n-3,,\"y \"\"q\"\"\"\n\n4e1,7,x\n");
  const Table table = read_csv(file.path);
  CHECK(table.columns == std::vector<std::string>{"a", "b", "kind"});
  CHECK(table.values.shape() == Shape{3, 3});
  const std::vector<double> v = table.values.to_vector();
  CHECK(v[0] == 1);
  CHECK(std::isnan(v[4]));
  CHECK(v[6] == 40);
  CHECK(v[2] == 0);
  CHECK(v[5] == 1);
  CHECK(table.classes[2] == std::vector<std::string>{"x", "y \"q\""});
  const TemporaryFile headerless_file("1;2\n3;4");
  CHECK(read_csv(headerless_file.path, {{"separator", ";"}}).values.to_vector() ==
        std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("csv: errors name path and line") {
  const TemporaryFile ragged_file("1,2\n3\n"), unclosed_quote("1,\"2\n3"), empty_file("");
  CHECK_THROWS_WITH(read_csv(ragged_file.path),
                    Contains(ragged_file.path) && Contains("line 2: expected 2 columns, got 1"));
  CHECK_THROWS_WITH(read_csv(unclosed_quote.path), Contains("a quoted field does not end"));
  CHECK_THROWS_WITH(read_csv(empty_file.path), Contains("holds no rows"));
  CHECK_THROWS_WITH(read_csv("/nonexistent/x.csv"),
                    Contains("/nonexistent/x.csv") && Contains("No such file"));
  CHECK_THROWS_WITH(read_csv("."), Contains("folder"));
}

TEST_CASE("idx: plain and gzip, damaged ones refused") {
  const std::string idx_bytes = bytes_of({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 255});
  const TemporaryFile idx_file(idx_bytes);
  CHECK(read_idx(idx_file.path).dtype() == DType::uint8);
  CHECK(read_idx(idx_file.path).to_vector() == std::vector<double>{1, 2, 3, 255});
  const TemporaryFile gzipped_file("", ".gz");
  gzFile gz = gzopen(gzipped_file.path.c_str(), "wb");
  gzwrite(gz, idx_bytes.data(), static_cast<unsigned>(idx_bytes.size()));
  gzclose(gz);
  CHECK(read_idx(gzipped_file.path).shape() == Shape{2, 2});
  for (size_t length = 0; length < idx_bytes.size(); ++length) {
    const TemporaryFile truncated_file(idx_bytes.substr(0, length));
    CHECK_THROWS_AS(read_idx(truncated_file.path), Error);
  }
  const TemporaryFile huge_file(
      bytes_of({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}));
  CHECK_THROWS_WITH(read_idx(huge_file.path), Contains("too large"));
  const TemporaryFile int16_file(bytes_of({0, 0, 0x0b, 1, 0, 0, 0, 2, 0xff, 0xfe, 1, 0}));
  CHECK(read_idx(int16_file.path).to_vector() == std::vector<double>{-2, 256});
}

TEST_CASE("npy: round trip, damaged ones refused") {
  const TemporaryFile file("", ".npy");
  for (DType dtype : {DType::float32, DType::float64, DType::int32, DType::int64, DType::uint8,
                      DType::boolean, DType::float16}) {
    const Tensor t = ops::cast(Tensor::from(std::vector<float>{1, 0, 3, 4, 5, 6}, {2, 3}), dtype);
    write_npy(file.path, t);
    const Tensor reread_array = read_npy(file.path);
    CHECK(reread_array.spec() == t.spec());
    CHECK(reread_array.to_vector() == t.to_vector());
  }
  write_npy(file.path, Tensor::scalar(3));
  CHECK(read_npy(file.path).rank() == 0);
  std::ifstream in(file.path, std::ios::binary);
  const std::string npy_bytes((std::istreambuf_iterator<char>(in)), {});
  for (size_t length = 0; length < npy_bytes.size(); ++length) {
    const TemporaryFile truncated(npy_bytes.substr(0, length));
    CHECK_THROWS_AS(read_npy(truncated.path), Error);
  }
  CHECK_THROWS_WITH(write_npy("/nonexistent/x.npy", Tensor::scalar(1)),
                    Contains("/nonexistent/x.npy"));
}

TEST_CASE("what is no regular file is refused at once, whoever is to read it") {
  const std::string path = "model_test_special.h5";
  auto check_error_for = [&](const char* kind) {
    const std::string text =
        concat("cannot read '", path, "': it is ", kind, ", not a regular file");
    for (auto* open : {&read_idx, &read_npy, &open_idx, &open_npy})
      CHECK_THROWS_WITH(open(path), text);
    CHECK_THROWS_WITH(read_csv(path), text);
    CHECK_THROWS_WITH(load_model(path), text);
    CHECK_THROWS_WITH(read_array(path, "x"), text);
    CHECK_THROWS_WITH(open_array(path, "x"), text);
    auto model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{2}}})});
    CHECK_THROWS_WITH(load_weights(*model, path), text);
    CHECK_THROWS_WITH(read_file(path), text);
  };
  std::remove(path.c_str());
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  check_error_for("a FIFO");
  std::remove(path.c_str());
  REQUIRE(mknod(path.c_str(), S_IFSOCK | 0600, 0) == 0);
  check_error_for("a socket");
  std::remove(path.c_str());
  REQUIRE(symlink("/dev/zero", path.c_str()) == 0);
  check_error_for("a device");
  std::remove(path.c_str());
  CHECK_THROWS_WITH(read_file("."), Contains("directory"));
}

TEST_CASE("formats are found by the first bytes of a file, or by its name") {
  const TemporaryFile array_file("", ".npy"), renamed_file("", ".txt"),
      table_file("a,b\n1,2\n", ".csv"), images(bytes_of({0, 0, 8, 1, 0, 0, 0, 2, 7, 9}), "-ubyte");
  write_arrays(array_file.path, {{"", Tensor::scalar(3)}});
  std::ofstream(renamed_file.path, std::ios::binary) << read_file(array_file.path);
  CHECK(read_array(array_file.path).item() == 3);
  CHECK(read_array(renamed_file.path).item() == 3);
  CHECK(open_array(images.path).clone().to_vector() == std::vector<double>{7, 9});
  CHECK(read_table(table_file.path).columns == std::vector<std::string>{"a", "b"});
  CHECK_THROWS_WITH(read_table(table_file.path, {{"seperator", ";"}}),
                    Contains("no option 'seperator' (did you mean 'separator'?)"));
}

TEST_CASE("what a format cannot do is an error that names those that can") {
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{1}}})});
  CHECK_THROWS_WITH(save_model(*model, "m.npy"),
                    Contains("'m.npy': files of format npy do not hold models; formats that hold "
                             "models: archive (.keras), hdf5 (.h5, .hdf5, .hdf, .he5)"));
  CHECK_THROWS_WITH(
      write_arrays("t.csv", {{"x", Tensor::scalar(1)}}),
      Contains("files of format csv do not take arrays; formats that take arrays: ") &&
          Contains("hdf5 (.h5, .hdf5, .hdf, .he5)") && Contains("npy (.npy)"));
  CHECK_THROWS_WITH(write_arrays("x.unknown", {}), Contains("no format is known by this name") &&
                                                       Contains("formats that take arrays: "));
  const TemporaryFile table("1,2\n", ".csv");
  CHECK_THROWS_WITH(read_array(table.path), Contains("files of format csv do not hold arrays"));
  CHECK_THROWS_WITH(load_weights(*model, table.path), Contains("do not hold weights"));
  CHECK_THROWS_WITH(format_named<ModelFormat>("csv"), Contains("do not hold models"));
  CHECK_THROWS_WITH(format_named<ReadsTables>("cvs"), Contains("did you mean 'csv'?"));
}

TEST_CASE("formats: missing files and folders are named") {
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{1}}})});
  CHECK_THROWS_WITH(load_model("/nonexistent/m.h5"), Contains("/nonexistent/m.h5"));
  CHECK_THROWS_WITH(save_model(*model, "/nonexistent/m.h5"),
                    Contains("there is no folder '/nonexistent'"));
  CHECK_THROWS_WITH(save_model(*model, "model.unknown"), Contains("model.unknown"));
  CHECK_THROWS_WITH(save_model(*model, "."), Contains("is a folder"));
  const TemporaryFile junk_file("not a model");
  CHECK_THROWS_WITH(load_model(junk_file.path), Contains(junk_file.path));
}
