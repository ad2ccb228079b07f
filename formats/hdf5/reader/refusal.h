// Exceptions for objects that do not exist or are refused, and checks of results of libhdf5.
#pragma once
#include <hdf5.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../src/handle.h"

namespace crescent::hdf5 {

/// The object or attribute does not exist.
struct MissingObject {};

/// The object exists, but the reader refuses it for the reason in the text.
struct RefusedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse(const std::string& reason);
/// Throws RefusedError with the message of libhdf5 if the status, a result of libhdf5, is an error.
void check(herr_t status);
Handle checked_handle(hid_t id, Handle::Close close);

std::vector<hsize_t> dims_of(hid_t space);
/// The number of elements of an array with these dimensions. Unlike H5Sget_simple_extent_npoints,
/// fails if the number overflows.
uint64_t element_count(const std::vector<hsize_t>& dims);

}  // namespace crescent::hdf5
