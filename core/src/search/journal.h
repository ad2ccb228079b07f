// Journal: an append-only file of records that several processes write and read. Each line has a
// checksum and a record as JSON. If a process is killed, the file still has all records whose
// append() returned; the next read() removes an incomplete line at the end.
//
// The locks are those of open file descriptions (fcntl, F_OFD_SETLK) on bytes far beyond the end of
// the file. The system releases them when their process ends, however it ends.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "crescent/base/value.h"
#include "crescent/system/file.h"

namespace crescent {

class CRESCENT_API Journal {
 public:
  /// Calls `visit` with each record of a file, which others may write meanwhile; an incomplete line
  /// at its end is left out. The file is only read, line by line, and without the lock.
  static void visit_file(const std::string& path,
                         const std::function<void(const Value& record)>& visit);

  /// Opens the file, or makes an empty one. With an empty path the journal is in memory, for this
  /// process alone. `syncs_writes`: whether append() waits until the record is on disk; without
  /// this, a power failure may lose the record.
  explicit Journal(const std::string& path, bool syncs_writes = false);

  /// While an object of this class lives, no other process reads or writes the journal.
  class CRESCENT_API Lock {
   public:
    explicit Lock(Journal& journal);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Journal& journal_;
  };

  // The following three functions must be called while a Lock lives.
  /// Calls `visit` with each record that was not read yet, and removes an incomplete line at the
  /// end of the file. Fails for a complete line that is damaged.
  void read(const std::function<void(const Value& record)>& visit);
  /// Appends a record; read() of this object does not visit it. If it fails, the file is unchanged.
  void append(const Value& record);
  /// Takes the lock with this number; returns false if another process has it, and true if this
  /// object has it already. The lock is released when the process ends.
  bool try_hold(int64_t lock_number);

  void release(int64_t lock_number) noexcept;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor file_;
  bool syncs_writes_;
  int64_t end_offset_ = 0;  ///< the offset where the lines that were read or written end
  int64_t line_count_ = 0;  ///< number of lines that were read or written
};

}  // namespace crescent
