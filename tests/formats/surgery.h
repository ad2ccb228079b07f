// Changes HDF5 files with libhdf5 itself, which does not update Crescent's checksums.
#pragma once
#include <functional>

#include "handle.h"
#include "models.h"

namespace crescent::hdf5 {

/// An HDF5 file that is open for changes.
class Hdf5Changes {
 public:
  explicit Hdf5Changes(const std::string& path)
      : file_(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose) {
    REQUIRE(file_.valid());
  }
  Handle open(const std::string& object) const {
    return Handle(H5Oopen(file_, object.empty() ? "/" : object.c_str(), H5P_DEFAULT), H5Oclose);
  }
  /// The paths of all objects; "" is the root.
  std::vector<std::string> objects() const {
    std::vector<std::string> paths;
    H5Ovisit2(
        file_, H5_INDEX_NAME, H5_ITER_INC,
        [](hid_t, const char* name, const H5O_info_t*, void* paths) -> herr_t {
          static_cast<std::vector<std::string>*>(paths)->push_back(std::string(name) == "." ? ""
                                                                                            : name);
          return 0;
        },
        &paths, H5O_INFO_BASIC);
    return paths;
  }
  std::vector<std::string> attributes(const std::string& object) const {
    std::vector<std::string> names;
    H5Aiterate2(
        open(object), H5_INDEX_NAME, H5_ITER_INC, nullptr,
        [](hid_t, const char* name, const H5A_info_t*, void* names) -> herr_t {
          static_cast<std::vector<std::string>*>(names)->push_back(name);
          return 0;
        },
        &names);
    return names;
  }
  void rename(const std::string& object, const std::string& from, const std::string& to) const {
    REQUIRE(H5Arename(open(object), from.c_str(), to.c_str()) >= 0);
  }
  void remove(const std::string& object, const std::string& attribute) const {
    REQUIRE(H5Adelete(open(object), attribute.c_str()) >= 0);
  }
  /// Applies `change` to the raw bytes of an attribute.
  void change(const std::string& object, const std::string& name,
              const std::function<void(std::string&)>& change) const {
    Handle parent = open(object);
    Handle attribute(H5Aopen(parent, name.c_str(), H5P_DEFAULT), H5Aclose);
    Handle type(H5Aget_type(attribute), H5Tclose);
    std::string bytes(H5Aget_storage_size(attribute), '\0');
    if (bytes.empty() || H5Tis_variable_str(type) > 0) return;
    H5Aread(attribute, type, bytes.data());
    change(bytes);
    REQUIRE(H5Awrite(attribute, type, bytes.data()) >= 0);
  }
  void move(const std::string& from, const std::string& to) const {
    REQUIRE(H5Lmove(file_, from.c_str(), file_, to.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0);
  }
  void unlink(const std::string& object) const {
    REQUIRE(H5Ldelete(file_, object.c_str(), H5P_DEFAULT) >= 0);
  }
  /// Replaces an object by an object of another file, or by a copy of another object of this file.
  void copy(const Hdf5Changes& from, const std::string& object, const std::string& to) const {
    REQUIRE(H5Ocopy(from.file_, object.c_str(), file_, to.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0);
  }
  /// Copies an attribute from the root of another file.
  void copy_attribute(const Hdf5Changes& from, const std::string& name) const {
    const Handle root = from.open("");
    Handle source(H5Aopen(root, name.c_str(), H5P_DEFAULT), H5Aclose);
    Handle type(H5Aget_type(source), H5Tclose), space(H5Aget_space(source), H5Sclose);
    std::string bytes(H5Aget_storage_size(source), '\0');
    REQUIRE(H5Aread(source, type, bytes.data()) >= 0);
    Handle copy(H5Acreate2(open(""), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                H5Aclose);
    REQUIRE(H5Awrite(copy, type, bytes.data()) >= 0);
  }
  /// Adds a dataset of zeros.
  void add(const std::string& dataset) const {
    const hsize_t dims[] = {2, 3};
    Handle space(H5Screate_simple(2, dims, nullptr), H5Sclose);
    Handle created_dataset(H5Dcreate2(file_, dataset.c_str(), H5T_IEEE_F32LE, space, H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT),
                           H5Dclose);
    REQUIRE(created_dataset.valid());
  }
  void swap(const std::string& a, const std::string& b) const {
    move(a, "aside"), move(b, a), move("aside", b);
  }
  bool is_dataset(const std::string& object) const {
    return H5Iget_type(open(object)) == H5I_DATASET;
  }

 private:
  Handle file_;
};

/// A trained model with two layers of the same shapes, so that exchanged weights would not be
/// noticed by their shapes.
inline ModelPtr trained_model(double rate = 0.001) {
  auto model = Sequential::make(
      {layer("Dense",
             {{"units", 4}, {"input_shape", List{4}}, {"name", "first"}, {"activation", "tanh"}}),
       layer("Dropout", {{"rate", 0.25}, {"name", "drop"}}),
       layer("Dense", {{"units", 4}, {"name", "second"}})},
      "sealed");
  const Dict adam{{"class_name", "Adam"}, {"config", Dict{{"learning_rate", rate}}}};
  model->compile(Dict{{"optimizer", adam}, {"loss", "mse"}});
  model->fit({ramp({16, 4})}, {ramp({16, 4}, 0.02)}, {{"epochs", 1}, {"verbose", 0}});
  return model;
}

}  // namespace crescent::hdf5
