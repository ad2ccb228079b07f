// System calls that fail on request, and a record of such calls. The functions here take precedence
// over those of the C library, also in shared libraries.
#pragma once
#include <string>
#include <vector>

namespace crescent::faults {

/// The system calls of saving that can be made to fail.
inline constexpr const char* kCallsOfSaving[] = {"open", "write", "fsync", "rename"};

/// While an object of this class exists, the n-th call of this function (from 1) fails with
/// `error`; if the fault is lasting, so do all later calls.
class FailingCall {
 public:
  FailingCall(const char* call, int n, int error, bool is_lasting = false);
  ~FailingCall();
  FailingCall(const FailingCall&) = delete;
  /// Whether the failing call was reached.
  bool was_reached() const;
};

/// While an object of this class exists, writes are partial: in turn they write one byte, some
/// bytes, or fail with EINTR.
class ShortWrites {
 public:
  ShortWrites();
  ~ShortWrites();
  ShortWrites(const ShortWrites&) = delete;
};

/// Records the calls in order: "write /tmp/m.h5", "rename /tmp/a /tmp/b".
class CallRecording {
 public:
  CallRecording();
  ~CallRecording();
  CallRecording(const CallRecording&) = delete;
  const std::vector<std::string>& calls() const;
};

/// While an object of this class exists, every process that is started runs the test `name` of this
/// program instead.
class OtherProgram {
 public:
  explicit OtherProgram(const char* name);
  ~OtherProgram();
  OtherProgram(const OtherProgram&) = delete;
};

}  // namespace crescent::faults
