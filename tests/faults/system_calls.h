// Calls of the system that fail when they are told to, and that write down what they were asked.
// The program's own functions stand before those of the C library, for the libraries too.
#pragma once
#include <string>
#include <vector>

namespace crescent::faults {

/// Calls that can fail: open, write, fsync, rename, access, posix_spawn, pthread_create.
inline constexpr const char* kCallsOfSaving[] = {"open", "write", "fsync", "rename"};

/// While it lives, the n-th call of this name (from 1) fails with `error`, and, when the fault
/// lasts, so do all that follow.
class Failing {
 public:
  Failing(const char* call, int n, int error, bool lasts = false);
  ~Failing();
  Failing(const Failing&) = delete;
  /// True when there were so many calls.
  bool happened() const;
};

/// While it lives, writes are short: a byte, or some, or EINTR in turn.
class ShortWrites {
 public:
  ShortWrites();
  ~ShortWrites();
  ShortWrites(const ShortWrites&) = delete;
};

/// What was called, in order: "write /tmp/m.h5", "rename /tmp/a /tmp/b".
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  const std::vector<std::string>& calls() const;
};

/// While it lives, processes that are started are this program with the test `name` instead.
class OtherProgram {
 public:
  explicit OtherProgram(const char* name);
  ~OtherProgram();
  OtherProgram(const OtherProgram&) = delete;
};

}  // namespace crescent::faults
