// What a reader answers with that finds nothing, or nothing that it touches; and libhdf5's results,
// checked.
#pragma once
#include <hdf5.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../src/handle.h"

namespace crescent::hdf5 {

/// The object or attribute does not exist.
struct Missing {};

/// It exists, and this reader does not touch it; the text says why.
struct RefusedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse(const std::string& why);
/// Refuses with libhdf5's own message.
void check(herr_t status);
Handle checked(hid_t id, Handle::Close close);

std::vector<hsize_t> dims_of(hid_t space);
/// Number of elements by our own multiplication: H5Sget_simple_extent_npoints overflows.
uint64_t element_count(const std::vector<hsize_t>& dims);

}  // namespace crescent::hdf5
