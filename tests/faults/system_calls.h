// System calls that fail on request, and a record of the calls. The program's own functions take
// precedence over those of the C library, in the libraries too.
#pragma once
#include <string>
#include <vector>

namespace crescent::faults {

/// Calls that can fail: open, write, fsync, rename, access, posix_spawn, pthread_create.
inline constexpr const char* kCallsOfSaving[] = {"open", "write", "fsync", "rename"};

/// While alive, the n-th call of this function (from 1) fails with `error`, and so do all later
/// ones if the fault lasts.
class Failing {
 public:
  Failing(const char* call, int n, int error, bool lasts = false);
  ~Failing();
  Failing(const Failing&) = delete;
  /// Whether the failing call was reached.
  bool happened() const;
};

/// While alive, writes are partial: one byte, some bytes, or EINTR, in turn.
class ShortWrites {
 public:
  ShortWrites();
  ~ShortWrites();
  ShortWrites(const ShortWrites&) = delete;
};

/// The calls in order: "write /tmp/m.h5", "rename /tmp/a /tmp/b".
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  const std::vector<std::string>& calls() const;
};

/// While alive, every process that is started runs the test `name` of this program instead.
class OtherProgram {
 public:
  explicit OtherProgram(const char* name);
  ~OtherProgram();
  OtherProgram(const OtherProgram&) = delete;
};

}  // namespace crescent::faults
