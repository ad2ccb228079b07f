#include "data/file_mapping.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

namespace crescent {

/// A range of mapped addresses for the handler of SIGBUS; the entry is free while `begin` is 0.
struct GuardedRange {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> is_lost{false};
};

namespace {

// The ranges are in a fixed array because a signal handler must not wait for a lock.
std::array<GuardedRange, 256> guarded_ranges;
std::mutex guarded_ranges_mutex;
struct sigaction previous_handler;

uintptr_t page_of(uintptr_t address) {
  return address & -static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
}

/// Replaces the mapping by zeros from the page of `address` to the mapping's end; returns false if
/// no range contains the address. Makes the system call directly, which a signal handler may do;
/// mmap() would also be reported by the thread sanitizer as a write to memory that other threads
/// read.
bool replace_lost(uintptr_t address) {
  for (GuardedRange& range : guarded_ranges) {
    const uintptr_t begin = range.begin.load(), end = range.end.load();
    if (begin == 0 || address < begin || address >= end) continue;
    range.is_lost = true;
    const uintptr_t page = page_of(address);
    return syscall(SYS_mmap, page, end - page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != -1;
  }
  return false;
}

void forward_signal(int signal, siginfo_t* info, void* context) {
  if (previous_handler.sa_flags & SA_SIGINFO)
    return previous_handler.sa_sigaction(signal, info, context);
  if (previous_handler.sa_handler != SIG_DFL && previous_handler.sa_handler != SIG_IGN)
    return previous_handler.sa_handler(signal);
  sigaction(signal, &previous_handler, nullptr);
  raise(signal);
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool is_memory_access = info->si_code > 0;  // false if another process sent the signal
  if (!is_memory_access || !replace_lost(reinterpret_cast<uintptr_t>(info->si_addr)))
    forward_signal(signal, info, context);
  errno = saved_errno;
}

bool handle_bus_errors() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  return sigaction(SIGBUS, &action, &previous_handler) == 0;
}

/// Adds a range to `guarded_ranges`, so that the handler of SIGBUS replaces it by zeros; returns
/// null if all entries are in use.
GuardedRange* add_guarded_range(std::byte* start, size_t bytes) {
  static const bool is_handler_set = handle_bus_errors();
  const std::lock_guard lock(guarded_ranges_mutex);
  for (GuardedRange& range : guarded_ranges) {
    if (!is_handler_set || range.begin != 0) continue;
    range.is_lost = false;
    range.end = reinterpret_cast<uintptr_t>(start) + bytes;
    range.begin = reinterpret_cast<uintptr_t>(start);
    return &range;
  }
  return nullptr;
}

}  // namespace

FileMapping::FileMapping(int descriptor, size_t bytes) : bytes_(bytes) {
  void* start =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
  if (start == MAP_FAILED) return;
  guarded_range_ = add_guarded_range(static_cast<std::byte*>(start), bytes);
  if (guarded_range_)
    start_ = static_cast<std::byte*>(start);
  else
    munmap(start, bytes);
}

FileMapping::~FileMapping() {
  if (!start_) return;
  guarded_range_->begin = 0;
  munmap(start_, bytes_);
}

bool FileMapping::is_lost() const { return guarded_range_ && guarded_range_->is_lost; }

void FileMapping::read_ahead(const std::byte* first, size_t count) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(first), page = page_of(begin);
  madvise(reinterpret_cast<void*>(page), begin + count - page, MADV_WILLNEED);
}

}  // namespace crescent
