// Interposed system calls that fail on request and record their arguments. The functions of this
// program replace those of the C library, also for the libraries.
#pragma once
#include <string>
#include <vector>

namespace crescent::faults {

/// Calls that can fail: open, write, fsync, rename, access, posix_spawn, pthread_create.
inline constexpr const char* kCallsOfSaving[] = {"open", "write", "fsync", "rename"};

/// While it lives, the n-th call of this name (from 1) fails with `error`; if the fault lasts, so
/// do all later ones.
class Failing {
 public:
  Failing(const char* call, int n, int error, bool lasts = false);
  ~Failing();
  Failing(const Failing&) = delete;
  /// Whether there were that many calls.
  bool happened() const;
};

/// While it lives, writes are short: one byte, a few bytes and EINTR in turn.
class ShortWrites {
 public:
  ShortWrites();
  ~ShortWrites();
  ShortWrites(const ShortWrites&) = delete;
};

/// Records the calls in order: "write /tmp/m.h5", "rename /tmp/a /tmp/b".
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  const std::vector<std::string>& calls() const;
};

/// While it lives, child processes run this program with the test `name` instead of theirs.
class OtherProgram {
 public:
  explicit OtherProgram(const char* name);
  ~OtherProgram();
  OtherProgram(const OtherProgram&) = delete;
};

}  // namespace crescent::faults
