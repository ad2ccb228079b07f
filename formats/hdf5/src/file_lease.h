// Prevents changes of a file between two reads.
#pragma once
#include <fcntl.h>
#include <signal.h>

namespace crescent::hdf5 {

/// A lease on a file: while this object exists, another process that opens the file for writing or
/// truncates it must wait, at most fs.lease-break-time (45 seconds).
class FileLease {
 public:
  /// Takes a lease on a descriptor that is open for reading.
  explicit FileLease(int file) : descriptor_(file) {
    // The signal that announces a waiting process. The default, SIGIO, would end this process.
    fcntl(descriptor_, F_SETSIG, SIGURG);
    is_held_ = fcntl(descriptor_, F_SETLEASE, F_RDLCK) == 0;
  }
  ~FileLease() {
    if (is_held_) fcntl(descriptor_, F_SETLEASE, F_UNLCK);
  }
  FileLease(const FileLease&) = delete;

  /// Whether the system granted the lease. It grants none for a file of another user or a file that
  /// is open for writing.
  bool is_held() const { return is_held_; }

 private:
  int descriptor_;
  bool is_held_;
};

}  // namespace crescent::hdf5
