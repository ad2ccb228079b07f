// Builds an HDF5 file in memory from a tree of groups and arrays; it refers to the values of arrays
// instead of copying them. The file is then written to disk without libhdf5, which crashes if the
// disk is full. The layout is that of HDF5 1.8, as in files of Keras 2; equal trees give equal
// bytes.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "handle.h"
#include "tree.h"

namespace crescent::hdf5 {

/// The limit in bytes of an attribute in the header of an object; HDF5_OBJECT_HEADER_LIMIT in
/// Keras.
inline constexpr size_t kHeaderLimit = 64512;

using Bytes = std::span<const std::byte>;

class FileImage {
 public:
  /// Builds the file. Fails, naming the object, if an object of the tree cannot be written.
  explicit FileImage(const Tree& tree);
  /// The bytes of the file as consecutive pieces. Some refer to the values of arrays in the tree,
  /// which must outlive this object.
  const std::vector<Bytes>& pieces() const { return pieces_; }

 private:
  /// The values of a dataset, which are not in the file of libhdf5, and where they belong.
  struct DatasetBytes {
    size_t offset;  // the offset of the values in the file
    Bytes bytes;
  };
  void write_node(hid_t file, const Node& node, const std::vector<Attribute>& seals);
  Handle write_dataset(hid_t file, const Node& node, std::string_view object_label);
  void split_into_pieces(hid_t file);

  std::vector<DatasetBytes> dataset_bytes_;
  std::vector<std::vector<std::byte>> gaps_;  // copies of the bytes between the values of arrays
  std::vector<Bytes> pieces_;
};

}  // namespace crescent::hdf5
