// Growing a file over RLIMIT_FSIZE raises SIGXFSZ, which ends the process; while this object lives
// it is only EFBIG.
#pragma once
#include <signal.h>

#include <ctime>

namespace crescent::hdf5 {

class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoFileSizeSignal() {
    const timespec now{};
    while (sigtimedwait(&signal_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t signal_, before_;
};

}  // namespace crescent::hdf5
