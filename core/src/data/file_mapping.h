// A file mapped into memory. Reading bytes that the file no longer has, or that the disk fails to
// read, would end the process with SIGBUS; these mappings give zeros instead and is_lost() returns
// true.
#pragma once
#include <cstddef>

namespace crescent {

struct GuardedRange;

class FileMapping {
 public:
  /// Maps the first `bytes` bytes of an open file; start() is null if that fails.
  FileMapping(int descriptor, size_t bytes);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;

  /// The first mapped byte; writes to the memory do not change the file.
  std::byte* start() const { return start_; }
  /// Whether values may have been replaced by zeros.
  bool is_lost() const;
  /// Asks the system to read these bytes from disk ahead, without waiting for them.
  void read_ahead(const std::byte* first, size_t count) const;

 private:
  std::byte* start_ = nullptr;
  size_t bytes_;
  GuardedRange* guarded_range_ = nullptr;
};

}  // namespace crescent
