// A tree as the bytes of an HDF5 file, built in memory: writing them to disk needs no libhdf5,
// which dies on a full disk. The layout is that of HDF5 1.8, as Keras 2 writes it, and equal trees
// give equal bytes.
#pragma once
#include <cstddef>

#include "handle.h"
#include "tree.h"

namespace crescent::hdf5 {

/// Longest attribute that HDF5 keeps in an object's header; Keras' HDF5_OBJECT_HEADER_LIMIT.
inline constexpr size_t kHeaderLimit = 64512;

class FileImage {
 public:
  /// Fails naming the object that cannot be written.
  explicit FileImage(const Tree& tree);
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Handle file_;
  const std::byte* data_ = nullptr;  // inside the open file
  size_t size_ = 0;
};

}  // namespace crescent::hdf5
