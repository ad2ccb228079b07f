// A check of the global heaps in which HDF5 stores texts of variable length: libhdf5 1.10 loops
// forever in a damaged heap.
#pragma once
#include <cstddef>
#include <span>

namespace crescent::hdf5 {

/// Refuses an image with a heap whose objects do not fill it up to its end. It checks images up to
/// 16 MiB, which takes little time.
void check_heaps(std::span<const std::byte> image);

}  // namespace crescent::hdf5
