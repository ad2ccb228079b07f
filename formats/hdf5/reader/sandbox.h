// Takes away from this process everything that reading a mapped file does not need, for good.
#pragma once
#include <cstdint>

namespace crescent::hdf5 {

/// Before anything else: die with the parent, limits on time and memory, no core file, no inherited
/// descriptors.
void set_limits(uint64_t file_size, unsigned seconds);

/// Before the first byte of the file is looked at: from here on a system call that opens, sends
/// elsewhere, starts or maps code fails. False when the kernel has no seccomp.
bool lock_down();

}  // namespace crescent::hdf5
