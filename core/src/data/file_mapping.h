// A file mapped into memory. To touch what a file no longer has, or what its disk cannot read, ends
// a process with SIGBUS; in these mappings one finds zeros instead, and lost() tells.
#pragma once
#include <cstddef>

namespace crescent {

struct GuardedRange;

class FileMapping {
 public:
  /// Maps the first `bytes` of an open file; start() is null where that cannot be done.
  FileMapping(int descriptor, size_t bytes);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;

  /// What is written there stays in this process.
  std::byte* start() const { return start_; }
  /// Values may have become zeros.
  bool lost() const;
  /// Asks the disk for bytes that will be used; does not wait.
  void expect(const std::byte* first, size_t count) const;

 private:
  std::byte* start_ = nullptr;
  size_t bytes_;
  GuardedRange* range_ = nullptr;
};

}  // namespace crescent
