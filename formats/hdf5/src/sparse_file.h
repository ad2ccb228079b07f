// A file in memory to which libhdf5 writes. Memory is only used for pages that were written to, so
// the space that is reserved for the values of datasets uses none.
#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <span>

#include "handle.h"

namespace crescent::hdf5 {

class SparseFile {
 public:
  /// The file access properties with which H5Fcreate and H5Fopen use a sparse file.
  static Handle access_properties();
  /// The sparse file behind an HDF5 file that was created with access_properties().
  static const SparseFile& of(hid_t file);

  /// The allocated size of the file in bytes.
  size_t size() const { return end_; }
  /// Reads bytes; those that were never written are zero.
  void read(size_t offset, std::span<std::byte> target) const;
  void write(size_t offset, std::span<const std::byte> bytes);

 private:
  friend struct SparseDriver;
  static constexpr size_t kPage = 4096;
  using Page = std::array<std::byte, kPage>;
  std::map<size_t, std::unique_ptr<Page>> pages_;  // the pages that were written to, by number
  size_t end_ = 0;                                 // the allocated size
  size_t written_end_ = 0;                         // the end of the last byte that was written
};

}  // namespace crescent::hdf5
