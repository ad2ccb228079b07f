// A look at the heaps in which HDF5 keeps texts of variable length: damage in one sends libhdf5
// 1.10 in circles until its time is over, so it is found before.
#pragma once
#include <cstddef>
#include <span>

namespace crescent::hdf5 {

/// Refuses an image with a heap whose objects do not follow each other to its end. Only images of
/// up to 16 MiB, which are read in no time, are looked through.
void check_heaps(std::span<const std::byte> image);

}  // namespace crescent::hdf5
