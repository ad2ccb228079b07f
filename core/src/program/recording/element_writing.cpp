#include "crescent/program/element_writing.h"

#include <cassert>
#include <cstring>

#include "program/recording/recorder.h"
#include "program/recording/tape.h"

namespace crescent {

bool is_followed(const Tensor& tensor) { return tensor.is_abstract() || tapes_follow(tensor); }

void expect_writable(const Tensor& tensor) {
  if (tensor.is_abstract() || Recorder::current() || tapes_are_active())
    fail("elements cannot be assigned while ", tapes_are_active() ? "a tape" : "a program",
         " records what is computed: cr.ops.slice_update, scatter_update or where give a tensor "
         "with other values");
  if (!tensor.in_memory())
    fail("the values of this tensor ", tensor.spec(), " are in ", tensor.storage()->location(),
         ", where elements cannot be assigned: clone() brings them into memory");
  if (is_held(tensor.storage()))
    fail("elements of this tensor ", tensor.spec(),
         " cannot be assigned: a variable or a compiled program counts on its values; assign to "
         "the variable, or to elements of a clone()");
}

namespace {

/// Copies consecutive blocks of `run_bytes` bytes from `from`. The block i is written to `to` where
/// the element with the index starts[i] begins.
void copy_runs(std::byte* to, const std::byte* from, std::span<const int64_t> starts,
               size_t run_bytes, size_t element_bytes) {
  for (const int64_t start : starts) {
    std::memcpy(to + static_cast<size_t>(start) * element_bytes, from, run_bytes);
    from += run_bytes;
  }
}

}  // namespace

void write_elements(const Tensor& tensor, std::span<const int64_t> starts, int64_t run,
                    const Tensor& values) {
  assert(values.dtype() == tensor.dtype() &&
         values.size() == run * static_cast<int64_t>(starts.size()));
  expect_writable(tensor);
  if (values.size() == 0) return;
  Storage& storage = *tensor.storage();
  const bool shares_storage = values.storage() == tensor.storage();
  const Tensor host_values = (shares_storage ? values.clone() : values).to(nullptr);
  const size_t element_bytes = size_of(tensor.dtype()),
               run_bytes = static_cast<size_t>(run) * element_bytes;
  const auto* source_bytes = static_cast<const std::byte*>(host_values.raw());
  if (storage.host()) {
    storage.bump_version();
    return copy_runs(storage.host() + tensor.offset(), source_bytes, starts, run_bytes,
                     element_bytes);
  }
  std::vector<std::byte> all_bytes(tensor.bytes());
  storage.read(tensor.offset(), all_bytes.size(), all_bytes.data());
  copy_runs(all_bytes.data(), source_bytes, starts, run_bytes, element_bytes);
  storage.write(tensor.offset(), all_bytes.size(), all_bytes.data());
}

}  // namespace crescent
