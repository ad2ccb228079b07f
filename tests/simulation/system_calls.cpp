#include "system_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "cluster.h"

namespace crescent::simulation {
namespace {

thread_local bool calls_are_real = false;

template <class Function>
Function* real_function(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string path_of(int file) {
  char path[PATH_MAX];
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, PATH_MAX);
  return size < 0 ? "" : std::string(path, static_cast<size_t>(size));
}

/// A system call of a rank on a path of its disk.
class DiskCall {
 public:
  /// A call with `can_fail` false fails only if the rank has crashed.
  explicit DiskCall(const std::string& path, bool can_fail = true) {
    Cluster* cluster = calls_are_real ? nullptr : Cluster::current();
    if (!cluster || !(cluster->disk().has(path) || path == cluster->disk().folder())) return;
    cluster_ = cluster;
    fails_ = !cluster->pass_event() || (can_fail && cluster->disk_fails());
  }
  explicit operator bool() const { return cluster_ != nullptr; }
  Cluster& cluster() const { return *cluster_; }
  Disk& disk() const { return cluster_->disk(); }
  /// Whether the call must fail; if so, sets errno.
  bool fails(int error) const { return fails_ && (errno = error, true); }

 private:
  Cluster* cluster_ = nullptr;
  bool fails_ = false;
};

int open_file(const char* path, int flags, mode_t mode) {
  static auto* open_really = real_function(&::open, "open");
  const DiskCall call(path);
  if (call.fails(EIO)) return -1;
  const int file = open_really(path, flags, mode);
  if (call && file >= 0 && (flags & O_CREAT)) call.disk().after_creation(path);
  return file;
}

/// Removes a file by calling `remove_really`. The disk never makes a removal fail, because the file
/// would stay for good.
template <class Function>
int remove_file(const char* path, Function remove_really) {
  const DiskCall call(path, false);
  if (call.fails(EIO)) return -1;
  struct stat status;
  if (call && stat(path, &status) == 0) call.disk().before_removal(path);
  return remove_really(path);
}

}  // namespace

WithoutSimulation::WithoutSimulation() : were_real_(std::exchange(calls_are_real, true)) {}
WithoutSimulation::~WithoutSimulation() { calls_are_real = were_real_; }

}  // namespace crescent::simulation

using namespace crescent::simulation;

// These functions are visible to the shared libraries of this program, so that the libraries call
// them.
#pragma GCC visibility push(default)
extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_file(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_file(path, flags, mode);
}

/// Half of the writes write only some of the bytes.
ssize_t write(int file, const void* bytes, size_t size) {
  static auto* write_really = real_function(&::write, "write");
  if (!Cluster::current()) return write_really(file, bytes, size);
  const std::string path = path_of(file);
  const DiskCall call(path);
  if (call.fails(ENOSPC)) return -1;
  if (call) {
    call.disk().before_write(path);
    if (size > 1 && call.cluster().draw(2) == 0)
      size = 1 + static_cast<size_t>(call.cluster().draw(static_cast<int64_t>(size)));
  }
  return write_really(file, bytes, size);
}

int fsync(int file) {
  static auto* fsync_really = real_function(&::fsync, "fsync");
  if (!Cluster::current()) return fsync_really(file);
  const std::string path = path_of(file);
  const DiskCall call(path);
  if (!call) return fsync_really(file);
  if (call.fails(EIO)) return -1;
  call.disk().after_sync(path);
  return 0;
}

int rename(const char* from, const char* to) noexcept {
  static auto* rename_really = real_function(&::rename, "rename");
  const DiskCall call(from);
  if (call.fails(EIO)) return -1;
  struct stat status;
  if (call && stat(from, &status) == 0) call.disk().before_rename(from, to);
  return rename_really(from, to);
}

int remove(const char* path) noexcept {
  static auto* remove_really = real_function(&::remove, "remove");
  return remove_file(path, remove_really);
}

int unlink(const char* path) noexcept {
  static auto* unlink_really = real_function(&::unlink, "unlink");
  return remove_file(path, unlink_really);
}

/// The process of each rank has a number of its own, which no process of the system has.
pid_t getpid() noexcept {
  static auto* getpid_really = real_function(&::getpid, "getpid");
  const Cluster* cluster = Cluster::current();
  return cluster ? cluster->process_id() : getpid_really();
}

}  // extern "C"
#pragma GCC visibility pop
