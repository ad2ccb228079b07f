// Checks the global heaps in which HDF5 stores texts of variable length, because libhdf5 1.10 loops
// forever in a damaged heap.
#pragma once
#include <cstddef>
#include <span>

namespace crescent::hdf5 {

/// Refuses an image with a heap that its objects do not fill up to the end. Only images of at most
/// 16 MiB are checked, which takes little time.
void check_heaps(std::span<const std::byte> image);

}  // namespace crescent::hdf5
