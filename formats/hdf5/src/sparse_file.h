// A file of libhdf5 that exists in memory only, and there only where something was written: room
// for the numbers of datasets is given out and takes nothing.
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
  /// For H5Fcreate and H5Fopen.
  static Handle access();
  /// The file behind an open one.
  static const SparseFile& of(hid_t file);

  /// Bytes given out so far.
  size_t size() const { return end_; }
  /// Zeros where nothing was written.
  void read(size_t offset, std::span<std::byte> target) const;
  void write(size_t offset, std::span<const std::byte> bytes);

 private:
  friend struct SparseDriver;
  static constexpr size_t kPage = 4096;
  using Page = std::array<std::byte, kPage>;
  std::map<size_t, std::unique_ptr<Page>> pages_;  // by number
  size_t end_ = 0, written_ = 0;
};

}  // namespace crescent::hdf5
