// Values that are written are read back unchanged, the layout of files is that of Keras, and equal
// models give identical files.
#include <limits>

#include "files/crc32c.h"
#include "handle.h"
#include "scratch.h"

namespace crescent::hdf5 {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("every element type and rank comes back bit for bit") {
  Scratch scratch;
  std::vector<unsigned char> bytes(48);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(7 * i + 1);
  Tree tree;
  Texts names;
  for (size_t e = 0; e < std::size(kElements); ++e) {
    auto type = static_cast<ElementType>(e);
    if (type == ElementType::boolean) continue;
    Node node = dataset(std::string(info(type).name) + "/x", type, {2, 3}, bytes);
    if (type == ElementType::bfloat16) node.attributes = {{"dtype", std::string("bfloat16")}};
    names.push_back(node.path);
    tree.push_back(node);
  }
  write_tree(scratch.path("a.h5"), tree);
  FileReader reader(scratch.path("a.h5"));
  auto infos = reader.describe(names);
  auto arrays = reader.read(names, infos);
  for (size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    CHECK(arrays[i].type == tree[i].data->type);
    CHECK(arrays[i].shape == std::vector<uint64_t>{2, 3});
    CHECK(infos[i].checksum.has_value());
    CHECK(std::memcmp(arrays[i].bytes, bytes.data(), 6 * info(arrays[i].type).size) == 0);
  }
}

TEST_CASE("bfloat16 is two bytes without a meaning and the name of a type, as Keras writes it") {
  Scratch scratch;
  const std::vector<uint16_t> bits{0x3f80, 0xc000};
  Node node = dataset("x", ElementType::bfloat16, {2}, bits);
  node.attributes = {{"dtype", std::string("bfloat16")}};
  write_tree(scratch.path("a.h5"), {node});
  {
    const Handle file(H5Fopen(scratch.path("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const Handle dataset_handle(H5Dopen2(file, "x", H5P_DEFAULT), H5Dclose);
    const Handle type(H5Dget_type(dataset_handle), H5Tclose);
    CHECK(H5Tget_class(type) == H5T_OPAQUE);
    CHECK(H5Tget_size(type) == 2);
    const Handle dtype_attribute(H5Aopen(dataset_handle, "dtype", H5P_DEFAULT), H5Aclose);
    // A variable-length string, which h5py reads as text.
    CHECK(H5Tis_variable_str(Handle(H5Aget_type(dtype_attribute), H5Tclose)) > 0);
  }

  // Earlier versions of Crescent marked integers with an attribute; .h5 files of Keras have no such
  // mark.
  const auto write_integers = [&](hid_t number, bool has_mark) {
    const std::string path = scratch.path("b.h5");
    const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t count = bits.size();
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle dataset_handle(
        H5Dcreate2(file, "x", number, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    REQUIRE(H5Dwrite(dataset_handle, number, H5S_ALL, H5S_ALL, H5P_DEFAULT, bits.data()) >= 0);
    if (!has_mark) return path;
    const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    REQUIRE(H5Tset_size(text, 8) >= 0);
    const Handle scalar_space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle dtype_attribute(
        H5Acreate2(dataset_handle, "dtype", text, scalar_space, H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    REQUIRE(H5Awrite(dtype_attribute, text, "bfloat16") >= 0);
    return path;
  };
  for (bool has_mark : {false, true}) {
    FileReader reader(write_integers(has_mark ? H5T_STD_U16LE : bfloat16_type(), has_mark));
    const auto arrays = reader.read({"x"}, reader.describe({"x"}));
    CHECK(arrays[0].type == ElementType::bfloat16);
    CHECK(std::memcmp(arrays[0].bytes, bits.data(), 4) == 0);
  }
}

TEST_CASE("scalars, empty arrays and bools") {
  Scratch scratch;
  write_tree(scratch.path("a.h5"),
             {dataset("scalar", ElementType::float64, {}, std::vector<double>{2.5}),
              dataset("empty", ElementType::float32, {0, 3}, std::vector<float>{}),
              dataset("bools", ElementType::boolean, {3}, std::vector<char>{1, 0, 1})});
  FileReader reader(scratch.path("a.h5"));
  Texts names{"scalar", "empty", "bools"};
  auto arrays = reader.read(names, reader.describe(names));
  CHECK(*static_cast<const double*>(arrays[0].bytes) == 2.5);
  CHECK(arrays[0].shape.empty());
  CHECK(arrays[1].shape == std::vector<uint64_t>{0, 3});
  CHECK(arrays[2].type == ElementType::boolean);
  CHECK(std::memcmp(arrays[2].bytes, "\1\0\1", 3) == 0);
}

TEST_CASE("attributes: texts of any length, lists in pieces, numbers") {
  Scratch scratch;
  Texts names;
  for (int i = 0; i < 2000; ++i)
    names.push_back("layer_with_a_rather_long_name_so_that_the_list_is_cut_" + std::to_string(i));
  write_tree(scratch.path("a.h5"),
             {{"",
               {{"short", std::string("text")},
                {"empty", std::string()},
                {"unicode", std::string("m\xc3\xb6nch")},
                {"long", std::string(200'000, 'x')},
                {"integer", int64_t{-5}},
                {"real", 0.1}},
               {}},
              {"group", {{"names", names}, {"none", Texts{}}, {"two", Texts{"a", "bcd"}}}, {}}});
  FileReader reader(scratch.path("a.h5"));
  CHECK(reader.text("", "short") == "text");
  CHECK(reader.text("", "empty") == "");
  CHECK(reader.text("", "unicode") == "m\xc3\xb6nch");
  CHECK(reader.text("", "long") == std::string(200'000, 'x'));
  CHECK(std::get<int64_t>(*reader.attribute("", "integer")) == -5);
  CHECK(std::get<double>(*reader.attribute("", "real")) == 0.1);
  CHECK(reader.texts("group", "names") == names);
  CHECK(reader.texts("group", "none") == Texts{});
  CHECK(reader.texts("group", "two") == Texts{"a", "bcd"});
  CHECK_FALSE(reader.attribute("group", "absent"));
  CHECK_FALSE(reader.attribute("nowhere", "names"));
  CHECK(reader.members("") == Texts{"group"});
  CHECK_FALSE(reader.members("nowhere"));
}

TEST_CASE("NaN and infinity are seen wherever they are") {
  Scratch scratch;
  auto has_not_finite = [&](ElementType type, const auto& values) {
    write_tree(scratch.path("a.h5"), {dataset("w", type, {values.size()}, values)});
    return !read_one(scratch.path("a.h5"), "w").is_finite;
  };
  for (size_t size : {1, 2, 7}) {
    std::vector<float> float32_values(size, -std::numeric_limits<float>::max());
    std::vector<double> float64_values(size, -std::numeric_limits<double>::max());
    CHECK_FALSE(has_not_finite(ElementType::float32, float32_values));
    CHECK_FALSE(has_not_finite(ElementType::float64, float64_values));
    float32_values.back() = -std::numeric_limits<float>::infinity();
    float64_values.front() = std::numeric_limits<double>::quiet_NaN();
    CHECK(has_not_finite(ElementType::float32, float32_values));
    CHECK(has_not_finite(ElementType::float64, float64_values));
  }
}

TEST_CASE("equal trees are equal files") {
  Tree tree{{"g", {{"names", Texts{"a"}}}, {}},
            dataset("g/a/b/c", ElementType::float32, {2}, std::vector<float>{1, 2})};
  Scratch scratch;
  write_tree(scratch.path("a.h5"), tree);
  write_tree(scratch.path("b.h5"), tree);
  CHECK(read_bytes(scratch.path("a.h5")) == read_bytes(scratch.path("b.h5")));
}

TEST_CASE("names that HDF5 would change or lose are refused") {
  auto tree_with_path = [](const std::string& path) { return Tree{{path, {}, {}}}; };
  for (const char* path : {".", "a//b", "a/./b", "/a", "a/"}) {
    CAPTURE(path);
    CHECK(contains(failure([&] { FileImage image(tree_with_path(path)); }), "cannot be the name"));
  }
  Node x = dataset("x", ElementType::float32, {1}, std::vector<float>{1});
  CHECK(contains(failure([&] { FileImage image({x, x}); }), "'/x'"));
  CHECK(contains(failure([&] {
                   FileImage image({{"g", {{"n", Texts{std::string(70'000, 'y')}}}, {}}});
                 }),
                 "longer than HDF5 allows"));
}

TEST_CASE("crc32c agrees with its published check value") {
  CHECK(files::crc32c("123456789", 9) == 0xe3069283);
  std::string text;
  for (int64_t i = 0; i < 100'000; ++i) text += static_cast<char>(i * i >> 3);
  for (size_t first_size : {0, 1, 24'575, 24'576, 24'577, 100'000}) {
    size_t second_size = text.size() - first_size;
    CHECK(files::crc32c_joined(files::crc32c(text.data(), first_size),
                               files::crc32c(text.data() + first_size, second_size),
                               second_size) == files::crc32c(text.data(), text.size()));
  }
}

TEST_CASE("a changed number in a file of ours is found") {
  Scratch scratch;
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 0.5f;
  write_tree(scratch.path("a.h5"), {dataset("layer/kernel", ElementType::float32, {1000}, values)});
  std::string bytes = read_bytes(scratch.path("a.h5"));
  size_t position = bytes.find(std::string(reinterpret_cast<const char*>(&values[500]), 4));
  REQUIRE(position != bytes.npos);
  bytes[position] = static_cast<char>(bytes[position] ^ 1);
  write_bytes(scratch.path("a.h5"), bytes);
  std::string message = failure([&] { read_one(scratch.path("a.h5"), "layer/kernel"); });
  CHECK(contains(message, "'/layer/kernel' is damaged"));
  CHECK(contains(message, scratch.path("a.h5")));
}

}  // namespace
}  // namespace crescent::hdf5
