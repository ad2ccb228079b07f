// A tree as the bytes of an HDF5 file, without a copy of its numbers: writing them to disk needs no
// libhdf5, which dies on a full disk. The layout is that of HDF5 1.8, as Keras 2 writes it, and
// equal trees give equal bytes.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "handle.h"
#include "tree.h"

namespace crescent::hdf5 {

/// Longest attribute that HDF5 keeps in an object's header; Keras' HDF5_OBJECT_HEADER_LIMIT.
inline constexpr size_t kHeaderLimit = 64512;

using Bytes = std::span<const std::byte>;

class FileImage {
 public:
  /// Fails naming the object that cannot be written.
  explicit FileImage(const Tree& tree);
  /// The bytes of the file, one piece after the other. Numbers are the tree's, which must stay.
  const std::vector<Bytes>& pieces() const { return pieces_; }

 private:
  struct Numbers {
    size_t offset;  // in the file
    Bytes bytes;
  };
  void write_node(hid_t file, const Node& node, const std::vector<Attribute>& seals);
  Handle write_dataset(hid_t file, const Node& node, std::string_view what);
  void cut(hid_t file);

  std::vector<Numbers> numbers_;
  std::vector<std::vector<std::byte>> between_;
  std::vector<Bytes> pieces_;
};

}  // namespace crescent::hdf5
