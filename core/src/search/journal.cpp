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
constexpr off_t kFirstLock = off_t{1} << 60;
constexpr size_t kChecksumDigits = 8;  // number of hexadecimal digits before the record

struct flock lock_range(int64_t number, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = kFirstLock + static_cast<off_t>(number);
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

bool is_whole(std::string_view line) {
  return line.size() > kChecksumDigits + 1 && line[kChecksumDigits] == ' ' &&
         line.substr(0, kChecksumDigits) == checksum_of(line.substr(kChecksumDigits + 1));
}

[[noreturn]] void fail_with_errno(const std::string& path, const char* doing) {
  fail("cannot ", doing, " the journal '", path, "': ", strerror(errno));
}

/// The record of a complete line, whose number counts from 1.
Value record_in(std::string_view line, const std::string& path, int64_t number) {
  if (!is_whole(line))
    fail("the journal '", path, "' is damaged in line ", number,
         ", which does not fit its checksum");
  return parse_json(line.substr(kChecksumDigits + 1));
}

std::string read_from(int file, int64_t begin, const std::string& path) {
  struct stat info;
  if (fstat(file, &info) != 0) fail_with_errno(path, "read");
  if (info.st_size < begin) fail("the journal '", path, "' has become shorter than it was");
  std::string text(static_cast<size_t>(info.st_size - begin), '\0');
  for (size_t done = 0; done < text.size();) {
    const ssize_t got = pread(file, text.data() + done, text.size() - done,
                              static_cast<off_t>(begin + static_cast<int64_t>(done)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(path, "read");
    if (got == 0) text.resize(done);
    done += static_cast<size_t>(got);
  }
  return text;
}

bool write_at(int file, std::string_view text, int64_t begin) {
  const NoFileSizeSignal no_signal;
  while (!text.empty()) {
    const ssize_t written = pwrite(file, text.data(), text.size(), static_cast<off_t>(begin));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
    begin += written;
  }
  return true;
}

}  // namespace

Journal::Journal(const std::string& path, bool syncs)
    : path_(path.empty() ? "in memory" : path),
      file_(path.empty() ? memory_file("journal")
                         : Descriptor(open(system_path(path), O_RDWR | O_CREAT | O_CLOEXEC, 0666))),
      syncs_(syncs) {
  if (file_ < 0) fail_with_errno(path_, "open");
  struct stat info;
  if (fstat(file_, &info) != 0) fail_with_errno(path_, "open");
  if (!S_ISREG(info.st_mode)) fail("the journal '", path_, "' is not a regular file");
}

Journal::Lock::Lock(Journal& journal) : journal_(journal) {
  struct flock whole = lock_range(0, F_WRLCK);
  while (fcntl(journal_.file_, F_OFD_SETLKW, &whole) != 0)
    if (errno != EINTR) fail_with_errno(journal_.path_, "lock");
}
Journal::Lock::~Lock() { journal_.release(0); }

bool Journal::try_hold(int64_t number) {
  struct flock one = lock_range(number, F_WRLCK);
  if (fcntl(file_, F_OFD_SETLK, &one) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  fail_with_errno(path_, "lock a trial of");
}

void Journal::release(int64_t number) noexcept {
  struct flock one = lock_range(number, F_UNLCK);
  fcntl(file_, F_OFD_SETLK, &one);
}

void Journal::read(const std::function<void(const Value& record)>& visit) {
  const std::string text = read_from(file_, end_, path_);
  std::string_view left = text;
  while (!left.empty()) {
    const size_t length = left.find('\n');
    const std::string_view line = left.substr(0, length);
    if (length == left.npos) {
      if (ftruncate(file_, static_cast<off_t>(end_)) != 0) fail_with_errno(path_, "repair");
      return;
    }
    const Value record = record_in(line, path_, lines_ + 1);
    left.remove_prefix(length + 1);
    end_ += static_cast<int64_t>(length) + 1;
    ++lines_;
    visit(record);
  }
}

void Journal::visit_file(const std::string& path,
                         const std::function<void(const Value& record)>& visit) {
  const Descriptor regular(open_regular_file(path));  // a FIFO would block the stream
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_with_errno(path, "open");
  int64_t number = 0;
  for (std::string line; std::getline(file, line) && !file.eof();)
    visit(record_in(line, path, ++number));
}

void Journal::append(const Value& record) {
  const std::string text = to_json(record);
  const std::string line = checksum_of(text) + " " + text + "\n";
  if (!write_at(file_, line, end_) || (syncs_ && fdatasync(file_) != 0)) {
    const int error = errno;
    (void)!ftruncate(file_, static_cast<off_t>(end_));
    errno = error;
    fail_with_errno(path_, "write");
  }
  end_ += static_cast<int64_t>(line.size());
  ++lines_;
}

}  // namespace crescent
