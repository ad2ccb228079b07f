#include "search/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "crescent/system/process.h"

namespace crescent {
namespace {

// the offset of the byte of lock 0, which is the lock of the journal; the bytes of locks 1, 2, ...
// follow
constexpr off_t kFirstLockOffset = off_t{1} << 60;
constexpr size_t kChecksumDigits = 8;  // number of hexadecimal digits before the record

struct flock lock_range(int64_t lock_number, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = kFirstLockOffset + static_cast<off_t>(lock_number);
  range.l_len = 1;
  return range;
}

std::string checksum_of(std::string_view text) {
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  char digits[kChecksumDigits + 1];
  std::snprintf(digits, sizeof digits, "%08lx", static_cast<unsigned long>(crc));
  return digits;
}

bool has_valid_checksum(std::string_view line) {
  return line.size() > kChecksumDigits + 1 && line[kChecksumDigits] == ' ' &&
         line.substr(0, kChecksumDigits) == checksum_of(line.substr(kChecksumDigits + 1));
}

[[noreturn]] void fail_with_errno(const std::string& path, const char* action) {
  fail("cannot ", action, " the journal '", path, "': ", strerror(errno));
}

/// The record of a complete line, whose number counts from 1.
Value record_in(std::string_view line, const std::string& path, int64_t line_number) {
  if (!has_valid_checksum(line))
    fail("the journal '", path, "' is damaged in line ", line_number,
         ", which does not fit its checksum");
  return parse_json(line.substr(kChecksumDigits + 1));
}

std::string read_from(int file, int64_t begin, const std::string& path) {
  struct stat status;
  if (fstat(file, &status) != 0) fail_with_errno(path, "read");
  if (status.st_size < begin) fail("the journal '", path, "' has become shorter than it was");
  std::string text(static_cast<size_t>(status.st_size - begin), '\0');
  for (size_t bytes_read = 0; bytes_read < text.size();) {
    const ssize_t block_bytes = pread(file, text.data() + bytes_read, text.size() - bytes_read,
                                      static_cast<off_t>(begin + static_cast<int64_t>(bytes_read)));
    if (block_bytes < 0 && errno == EINTR) continue;
    if (block_bytes < 0) fail_with_errno(path, "read");
    if (block_bytes == 0) text.resize(bytes_read);
    bytes_read += static_cast<size_t>(block_bytes);
  }
  return text;
}

bool write_at(int file, std::string_view text, int64_t begin) {
  const NoFileSizeSignal no_signal;
  while (!text.empty()) {
    const ssize_t written_bytes = pwrite(file, text.data(), text.size(), static_cast<off_t>(begin));
    if (written_bytes < 0 && errno == EINTR) continue;
    if (written_bytes <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written_bytes));
    begin += written_bytes;
  }
  return true;
}

}  // namespace

Journal::Journal(const std::string& path, bool syncs_writes)
    : path_(path.empty() ? "in memory" : path),
      file_(path.empty() ? memory_file("journal")
                         : Descriptor(open(system_path(path), O_RDWR | O_CREAT | O_CLOEXEC, 0666))),
      syncs_writes_(syncs_writes) {
  if (file_ < 0) fail_with_errno(path_, "open");
  struct stat status;
  if (fstat(file_, &status) != 0) fail_with_errno(path_, "open");
  if (!S_ISREG(status.st_mode)) fail("the journal '", path_, "' is not a regular file");
}

Journal::Lock::Lock(Journal& journal) : journal_(journal) {
  struct flock whole_file = lock_range(0, F_WRLCK);
  while (fcntl(journal_.file_, F_OFD_SETLKW, &whole_file) != 0)
    if (errno != EINTR) fail_with_errno(journal_.path_, "lock");
}
Journal::Lock::~Lock() { journal_.release(0); }

bool Journal::try_hold(int64_t lock_number) {
  struct flock file_lock = lock_range(lock_number, F_WRLCK);
  if (fcntl(file_, F_OFD_SETLK, &file_lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  fail_with_errno(path_, "lock a trial of");
}

void Journal::release(int64_t lock_number) noexcept {
  struct flock file_lock = lock_range(lock_number, F_UNLCK);
  fcntl(file_, F_OFD_SETLK, &file_lock);
}

void Journal::read(const std::function<void(const Value& record)>& visit) {
  const std::string text = read_from(file_, end_offset_, path_);
  std::string_view remaining_text = text;
  while (!remaining_text.empty()) {
    const size_t length = remaining_text.find('\n');
    const std::string_view line = remaining_text.substr(0, length);
    if (length == remaining_text.npos) {
      if (ftruncate(file_, static_cast<off_t>(end_offset_)) != 0) fail_with_errno(path_, "repair");
      return;
    }
    const Value record = record_in(line, path_, line_count_ + 1);
    remaining_text.remove_prefix(length + 1);
    end_offset_ += static_cast<int64_t>(length) + 1;
    ++line_count_;
    visit(record);
  }
}

void Journal::visit_file(const std::string& path,
                         const std::function<void(const Value& record)>& visit) {
  const Descriptor journal_file(open_regular_file(path));  // a FIFO would block the stream
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_with_errno(path, "open");
  int64_t line_number = 0;
  for (std::string line; std::getline(file, line) && !file.eof();)
    visit(record_in(line, path, ++line_number));
}

void Journal::append(const Value& record) {
  const std::string text = to_json(record);
  const std::string line = checksum_of(text) + " " + text + "\n";
  if (!write_at(file_, line, end_offset_) || (syncs_writes_ && fdatasync(file_) != 0)) {
    const int error = errno;
    (void)!ftruncate(file_, static_cast<off_t>(end_offset_));
    errno = error;
    fail_with_errno(path_, "write");
  }
  end_offset_ += static_cast<int64_t>(line.size());
  ++line_count_;
}

}  // namespace crescent
