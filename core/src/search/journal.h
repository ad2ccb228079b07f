// Journal: an append-only file of records, a JSON text with a checksum in each line, that several
// processes write and read. Whatever moment a process is killed at, the file has all records whose
// append() returned; half of a line at its end is removed by who writes next.
//
// Locks are those of open file descriptions (fcntl, F_OFD_SETLK) on bytes far behind the end of the
// file. The system releases them when their process ends, however it ends.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "crescent/base/value.h"
#include "crescent/system/file.h"

namespace crescent {

class CRESCENT_API Journal {
 public:
  /// Opens the file, or makes an empty one. Without a path the journal is in memory, for this
  /// process alone. `syncs`: whether append() waits until the disk has the record, which otherwise
  /// a failure of power may take back.
  explicit Journal(const std::string& path, bool syncs = false);

  /// While it lives, no other process is in the journal.
  class CRESCENT_API Lock {
   public:
    explicit Lock(Journal& journal);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Journal& journal_;
  };

  // The following are called while a Lock lives.
  /// Calls `visit` with each record that was not read yet, and removes half of a line at the end of
  /// the file. Fails for a damaged line before the last one.
  void read(const std::function<void(const Value& record)>& visit);
  /// Appends a record, which read() does not give. When that fails, the file is as before.
  void append(const Value& record);
  /// Takes the lock with this number, which is free when its process has ended; false when another
  /// process has it. A lock that this object has already is taken again.
  bool try_hold(int64_t number);

  void release(int64_t number) noexcept;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor file_;
  bool syncs_;
  int64_t end_ = 0;    ///< of what was read or written
  int64_t lines_ = 0;  ///< that were read or written
};

}  // namespace crescent
