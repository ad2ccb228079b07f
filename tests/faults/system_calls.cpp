#include "system_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <optional>

namespace crescent::faults {
namespace {

// set only while no other thread makes the counted system calls
std::atomic<const char*> failing_call{nullptr};
std::atomic<int> calls_until_failure{0}, error_of_failure{0};
std::atomic<bool> failure_lasts{false}, writes_are_short{false};
std::atomic<unsigned> short_writes{0};
std::optional<std::vector<std::string>> recorded_calls;
const char* other_program = nullptr;

/// Whether this call must fail; if so, sets errno.
bool must_fail(const char* call) {
  const char* name = failing_call.load();
  if (!name || std::strcmp(name, call) != 0) return false;
  const int remaining_calls = --calls_until_failure;
  if (remaining_calls > 0 || (remaining_calls < 0 && !failure_lasts)) return false;
  errno = error_of_failure;
  return true;
}

void record(const char* call, const std::string& arguments) {
  recorded_calls->push_back(std::string(call) + " " + arguments);
}

std::string path_of(int file) {
  char path[PATH_MAX];
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, PATH_MAX);
  return size < 0 ? "" : std::string(path, static_cast<size_t>(size));
}

template <class Function>
Function* library_function(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int open_file(const char* path, int flags, mode_t mode) {
  if (must_fail("open")) return -1;
  static auto* call = library_function(&::open, "open");
  if (recorded_calls) record("open", path);
  return call(path, flags, mode);
}

}  // namespace

FailingCall::FailingCall(const char* call, int n, int error, bool is_lasting) {
  calls_until_failure = n, error_of_failure = error, failure_lasts = is_lasting,
  failing_call = call;
}
FailingCall::~FailingCall() { failing_call = nullptr; }
bool FailingCall::was_reached() const { return calls_until_failure <= 0; }

ShortWrites::ShortWrites() { writes_are_short = true; }
ShortWrites::~ShortWrites() { writes_are_short = false; }

CallRecording::CallRecording() { recorded_calls.emplace(); }
CallRecording::~CallRecording() { recorded_calls.reset(); }
const std::vector<std::string>& CallRecording::calls() const { return *recorded_calls; }

OtherProgram::OtherProgram(const char* name) { other_program = name; }
OtherProgram::~OtherProgram() { other_program = nullptr; }

}  // namespace crescent::faults

using namespace crescent::faults;

// visible to the shared libraries of this program, so that they call these functions
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

ssize_t write(int file, const void* bytes, size_t size) {
  if (must_fail("write")) return -1;
  static auto* call = library_function(&::write, "write");
  if (recorded_calls) record("write", path_of(file));
  if (writes_are_short && size > 1) {
    const unsigned turn = short_writes++ % 3;
    if (turn == 0) return errno = EINTR, -1;
    size = turn == 1 ? 1 : std::max<size_t>(1, size / 3);
  }
  return call(file, bytes, size);
}

int fsync(int file) {
  if (must_fail("fsync")) return -1;
  static auto* call = library_function(&::fsync, "fsync");
  if (recorded_calls) record("fsync", path_of(file));
  return call(file);
}

int rename(const char* from, const char* to) noexcept {
  if (must_fail("rename")) return -1;
  static auto* call = library_function(&::rename, "rename");
  if (recorded_calls) record("rename", std::string(from) + " " + to);
  return call(from, to);
}

int access(const char* path, int mode) noexcept {
  if (must_fail("access")) return -1;
  static auto* call = library_function(&::access, "access");
  return call(path, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  if (must_fail("pthread_create")) return errno;
  static auto* call = library_function(&::pthread_create, "pthread_create");
  return call(thread, attributes, run, argument);
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[],
                char* const environment[]) {
  if (must_fail("posix_spawn")) return errno;
  static auto* call = library_function(&::posix_spawn, "posix_spawn");
  char program[] = "test_faults";
  char* others[] = {program, const_cast<char*>(other_program), nullptr};
  return other_program ? call(pid, "/proc/self/exe", actions, attributes, others, environment)
                       : call(pid, path, actions, attributes, arguments, environment);
}

}  // extern "C"
#pragma GCC visibility pop
