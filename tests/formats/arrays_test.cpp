// Arrays in files that are read as a whole or in pieces.
#include "models.h"

namespace crescent::hdf5 {
namespace {

TEST_CASE("arrays by name") {
  Scratch scratch;
  crescent::write_arrays(scratch.path("a.h5"), {{"x", ramp({2, 3})}, {"group/y", labels(4, 3)}});
  check_same(crescent::read_array(scratch.path("a.h5"), "x"), ramp({2, 3}));
  check_same(crescent::read_array(scratch.path("a.h5"), "group/y"), labels(4, 3));
  CHECK(contains(failure([&] { crescent::read_array(scratch.path("a.h5"), "z"); }),
                 "there is no dataset '/z'"));
  CHECK(contains(failure([&] { crescent::read_array(scratch.path("a.h5"), ""); }),
                 "which dataset? The file has 2: group/y, x"));
  const NamedTensors all_arrays = crescent::read_arrays(scratch.path("a.h5"));
  REQUIRE(all_arrays.size() == 2);
  CHECK(all_arrays[0].first == "group/y");
  check_same(all_arrays[0].second, labels(4, 3));
  crescent::write_arrays(scratch.path("b.h5"), {{"a/b/c", ramp({2, 3})}});
  check_same(crescent::read_array(scratch.path("b.h5"), ""), ramp({2, 3}));
}

TEST_CASE("NumPy's arrays that lie column by column are turned") {
  Scratch scratch;
  std::string header = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
  header.append(118 - header.size() - 1, ' ').append("\n");
  const int32_t columns[] = {1, 4, 2, 5, 3, 6};
  write_bytes(scratch.path("a.npy"),
              std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header +
                  std::string(reinterpret_cast<const char*>(columns), sizeof columns));
  check_same(crescent::read_array(scratch.path("a.npy"), ""),
             Tensor::from(std::vector<int32_t>{1, 2, 3, 4, 5, 6}, {2, 3}));
}

TEST_CASE("arrays that stay in their file") {
  Scratch scratch;
  std::string path = scratch.path("a.h5");
  Tensor flags = ops::greater(ramp({6, 2}), Tensor(3.0));
  crescent::write_arrays(path,
                         {{"flags", flags}, {"one", Tensor::scalar(3)}, {"x", ramp({5000, 3})}});
  auto check_open = [&](const char* name, const Tensor& expected) {
    Tensor array = crescent::open_array(path, name);
    CHECK(array.spec() == expected.spec());
    check_same(array.clone(), expected);
    int64_t rows = expected.dim(0);
    check_same(array.view_rows(rows / 2, rows / 4).clone(), expected.view_rows(rows / 2, rows / 4));
    return array;
  };
  CHECK_FALSE(check_open("x", ramp({5000, 3})).in_memory());
  check_open("flags", flags);
  CHECK(crescent::open_array(path, "one").item() == 3);
  CHECK(contains(failure([&] { crescent::open_array(path, "z"); }), "there is no dataset '/z'"));

  Tensor large_array =
      ramp({3000, 40, 10});  // 4.8 MB, more than the reader process sends in one piece
  {
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    hsize_t dims[] = {3000, 40, 10}, chunk[] = {700, 7, 10};
    Handle space(H5Screate_simple(3, dims, nullptr), H5Sclose);
    for (const char* name : {"packed", "turned"}) {
      Handle creation_properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      bool is_packed = std::string(name) == "packed";
      if (is_packed) H5Pset_chunk(creation_properties, 3, chunk);
      if (is_packed) H5Pset_deflate(creation_properties, 4);
      Handle dataset_handle(H5Dcreate2(file, name, is_packed ? H5T_IEEE_F32LE : H5T_IEEE_F32BE,
                                       space, H5P_DEFAULT, creation_properties, H5P_DEFAULT),
                            H5Dclose);
      REQUIRE(H5Dwrite(dataset_handle, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       large_array.raw()) >= 0);
    }
  }
  CHECK(check_open("packed", large_array).storage()->block() == 700 * 1600);
  check_open("turned", large_array);
  check_same(crescent::read_array(path, "packed"), large_array);
  Tensor array = crescent::open_array(path, "packed");
  check_same(array.view({3000 * 400}).view_rows(123, 2001).clone(),
             large_array.view({3000 * 400}).view_rows(123, 2001));
}

TEST_CASE("a packed file that is damaged ends the reading with its place") {
  Scratch scratch;
  std::string path = scratch.path("a.h5");
  {
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    hsize_t dims[] = {1000, 10}, chunk[] = {100, 10};
    Handle space(H5Screate_simple(2, dims, nullptr), H5Sclose);
    Handle creation_properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(creation_properties, 2, chunk);
    H5Pset_fletcher32(creation_properties);
    Handle dataset_handle(
        H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation_properties, H5P_DEFAULT),
        H5Dclose);
    Tensor values = ramp({1000, 10});
    REQUIRE(H5Dwrite(dataset_handle, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     values.raw()) >= 0);
  }
  std::string bytes = read_bytes(path);
  bytes[bytes.size() - 2000] ^= 1;
  write_bytes(path, bytes);
  Tensor array = crescent::open_array(path, "x");
  check_same(array.view_rows(0, 100).clone(), ramp({1000, 10}).view_rows(0, 100));
  std::string message = failure([&] { array.clone(); });
  CHECK(contains(message, path));
  CHECK(contains(message, "rows from 1 of '/x'"));
}

}  // namespace
}  // namespace crescent::hdf5
