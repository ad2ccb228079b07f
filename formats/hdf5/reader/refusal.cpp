#include "refusal.h"

namespace crescent::hdf5 {
namespace {

/// The innermost error on the error stack of libhdf5, which is the most specific one.
std::string library_message() {
  std::string message;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* error, void* text) -> herr_t {
        if (n == 0 && error->desc) *static_cast<std::string*>(text) = error->desc;
        return 0;
      },
      &message);
  return message.empty() ? "it cannot be read" : message;
}

}  // namespace

void refuse(const std::string& reason) { throw RefusedError(reason); }

void check(herr_t status) {
  if (status < 0) refuse(library_message());
}

Handle checked_handle(hid_t id, Handle::Close close) {
  if (id < 0) refuse(library_message());
  return Handle(id, close);
}

std::vector<hsize_t> dims_of(hid_t space) {
  int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > H5S_MAX_RANK) refuse("its shape cannot be read");
  std::vector<hsize_t> dims(rank);
  check(H5Sget_simple_extent_dims(space, dims.data(), nullptr));
  return dims;
}

uint64_t element_count(const std::vector<hsize_t>& dims) {
  uint64_t count = 1;
  for (hsize_t dim : dims)
    if (__builtin_mul_overflow(count, dim, &count)) refuse("its shape is impossibly large");
  return count;
}

}  // namespace crescent::hdf5
