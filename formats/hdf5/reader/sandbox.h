// Takes all rights from this process that reading a mapped file does not need; it cannot regain
// them.
#pragma once
#include <cstdint>

namespace crescent::hdf5 {

/// Must be called first. From then on the process ends with its parent, has limits of time and
/// memory, writes no core file, and has closed the inherited descriptors that it does not need.
void set_limits(uint64_t file_size, unsigned seconds);

/// Must be called before the first byte of the file is read: from then on system calls that open
/// files or sockets, start programs or map code fail. Returns false if the kernel lacks seccomp.
bool lock_down();

}  // namespace crescent::hdf5
