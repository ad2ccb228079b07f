// Keeps a file as it is while it is read twice.
#pragma once
#include <fcntl.h>
#include <signal.h>

namespace crescent::hdf5 {

/// Who wants to open the file for writing, or to cut it, waits until this object is gone; the
/// system lets nobody wait for longer than fs.lease-break-time (45 seconds).
class FileLease {
 public:
  /// `file` is open for reading.
  explicit FileLease(int file) : file_(file) {
    fcntl(file_, F_SETSIG, SIGURG);  // says that somebody waits; the default, SIGIO, would end us
    taken_ = fcntl(file_, F_SETLEASE, F_RDLCK) == 0;
  }
  ~FileLease() {
    if (taken_) fcntl(file_, F_SETLEASE, F_UNLCK);
  }
  FileLease(const FileLease&) = delete;

  /// False where the system gives none: a file of somebody else, or open for writing.
  bool taken() const { return taken_; }

 private:
  int file_;
  bool taken_;
};

}  // namespace crescent::hdf5
