#include "crescent/system/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "crescent/base/error.h"
#include "crescent/base/progress.h"

namespace crescent {

void Descriptor::close() {
  if (number_ >= 0) ::close(release());
}

namespace {

using Bytes = std::span<const std::byte>;

struct TargetPath {
  std::string path, folder, name;
};

TargetPath split_path(const std::string& path) {
  size_t slash_index = path.rfind('/');
  if (slash_index == path.npos) return {path, ".", path};
  return {path, slash_index == 0 ? "/" : path.substr(0, slash_index), path.substr(slash_index + 1)};
}

/// Follows symbolic links from `path` to the file that they lead to, which need not exist.
TargetPath resolve(const std::string& path) {
  TargetPath target = split_path(path);
  constexpr int kMaxLinks = 40;
  for (int i = 0; i < kMaxLinks; ++i) {
    char link[PATH_MAX];
    ssize_t link_length = readlink(target.path.c_str(), link, sizeof link);
    if (link_length < 0) return target;
    std::string link_target(link, link_length);
    target =
        split_path(link_target.starts_with('/') ? link_target : target.folder + "/" + link_target);
  }
  fail("cannot save '", path, "': ", strerror(ELOOP));
}

std::string free_space(const std::string& folder) {
  struct statvfs disk;
  if (statvfs(folder.c_str(), &disk) != 0) return "";
  return concat(", ", static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize, " free");
}

[[noreturn]] void fail_saving(const std::string& path, const TargetPath& target, size_t size,
                              int error) {
  std::string space_hint = error == ENOSPC || error == EFBIG || error == EDQUOT
                               ? concat(" (", size, " bytes needed", free_space(target.folder), ")")
                               : "";
  bool target_exists = access(target.path.c_str(), F_OK) == 0;
  std::string link_text = target.path == path ? "" : concat(", which leads to '", target.path, "'");
  fail("cannot save '", path, "'", link_text, ": ", strerror(error), space_hint,
       target_exists ? "; the file that was there is untouched" : "");
}

/// The beginning of the name of a temporary file ".m.h5.tmp-PROCESS-NUMBER" for the target "m.h5".
std::string temporary_prefix(const TargetPath& target) { return "." + target.name + ".tmp-"; }

bool process_is_dead(std::string_view id) {
  pid_t pid = 0;
  auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), pid);
  return error == std::errc() && pid > 0 && *end == '-' && kill(pid, 0) != 0 && errno == ESRCH;
}

void remove_orphans(const TargetPath& target) {
  struct DirectoryCloser {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  std::unique_ptr<DIR, DirectoryCloser> folder(opendir(target.folder.c_str()));
  if (!folder) return;
  std::string prefix = temporary_prefix(target);
  while (const dirent* entry = readdir(folder.get()))
    if (std::string_view name = entry->d_name;
        name.starts_with(prefix) && process_is_dead(name.substr(prefix.size())))
      unlinkat(dirfd(folder.get()), entry->d_name, 0);
}

/// A temporary file; the destructor removes it unless it was committed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const TargetPath& target) : target_(target) {
    static std::atomic<unsigned> counter{0};
    path_ = concat(target.folder, "/", temporary_prefix(target), getpid(), "-", counter++);
    constexpr int kNewFileFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    file_ = Descriptor(open(path_.c_str(), kNewFileFlags, 0666));
    if (file_ >= 0) copy_mode();
  }
  ~TemporaryFile() {
    if (file_ >= 0 && !is_committed_) unlink(path_.c_str());
  }

  /// Writes the pieces and adds their bytes to `progress`, renames the temporary file to the target
  /// and returns 0, or errno on failure.
  int commit(std::span<const Bytes> pieces, FileProgress&& progress) {
    if (file_ < 0) return errno;
    for (const Bytes& piece : pieces)
      if (!write_all(piece, progress)) return errno;
    if (fsync(file_) != 0 || rename(path_.c_str(), target_.path.c_str()) != 0) return errno;
    is_committed_ = true;
    return 0;
  }
  /// Syncs the folder after commit(); returns 0 or errno. File systems that cannot sync folders
  /// count as success.
  int sync_folder() const {
    const Descriptor folder(open(target_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const bool is_synced =
        folder >= 0 && (fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP);
    return is_synced ? 0 : errno;
  }

 private:
  void copy_mode() {
    struct stat old_status;
    if (stat(target_.path.c_str(), &old_status) == 0)
      (void)!fchmod(file_, old_status.st_mode & 07777);
  }

  bool write_all(Bytes bytes, FileProgress& progress) {
    constexpr size_t kMaxWriteBytes = size_t{8} << 20;
    while (!bytes.empty()) {
      ssize_t written_bytes = write(file_, bytes.data(), std::min(bytes.size(), kMaxWriteBytes));
      if (written_bytes < 0 && errno == EINTR) continue;
      if (written_bytes <= 0) return false;
      bytes = bytes.subspan(written_bytes);
      written_bytes_ += written_bytes;
      start_writing_back();
      progress.add(written_bytes);
    }
    return true;
  }

  /// Starts writing to disk while the data are copied, so that fsync has little left to do.
  void start_writing_back() {
    constexpr off_t kWritebackInterval = off_t{8} << 20;
    if (written_bytes_ - writeback_end_ < kWritebackInterval) return;
    sync_file_range(file_, writeback_end_, written_bytes_ - writeback_end_, SYNC_FILE_RANGE_WRITE);
    writeback_end_ = written_bytes_;
  }

  const TargetPath& target_;
  std::string path_;
  Descriptor file_;
  off_t written_bytes_ = 0, writeback_end_ = 0;
  bool is_committed_ = false;
};

}  // namespace

const char* system_path(const std::string& path) {
  if (path.find('\0') != path.npos)
    fail("expected the path of a file, got '", path, "', which has a zero byte in it");
  return path.c_str();
}

struct NoFileSizeSignal::Masks {
  sigset_t blocked_signals, old_mask;
};

NoFileSizeSignal::NoFileSizeSignal() : masks_(std::make_unique<Masks>()) {
  sigemptyset(&masks_->blocked_signals);
  sigaddset(&masks_->blocked_signals, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &masks_->blocked_signals, &masks_->old_mask);
}

NoFileSizeSignal::~NoFileSizeSignal() {
  const timespec no_wait{};
  while (sigtimedwait(&masks_->blocked_signals, nullptr, &no_wait) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &masks_->old_mask, nullptr);
}

void create_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(system_path(path), error);
  if (error) fail("cannot create the folder '", path, "': ", error.message());
}

void replace_file(const std::string& path, std::span<const Bytes> pieces) {
  NoFileSizeSignal no_file_size_signal;
  struct stat old_status;
  if (stat(system_path(path), &old_status) == 0 && !S_ISREG(old_status.st_mode))
    fail("cannot save '", path, "': it exists and is not a regular file");
  TargetPath target = resolve(path);
  remove_orphans(target);
  size_t size = 0;
  for (const Bytes& piece : pieces) size += piece.size();
  TemporaryFile temporary(target);
  const int error = temporary.commit(pieces, FileProgress("saving", path, size));
  if (error != 0) fail_saving(path, target, size, error);
  if (const int sync_error = temporary.sync_folder())
    warn("saved '", path,
         "', but a loss of power may undo it: cannot sync its folder: ", strerror(sync_error));
}

void replace_file(const std::string& path, const std::string& text) {
  Bytes bytes = std::as_bytes(std::span(text));
  replace_file(path, {&bytes, 1});
}

}  // namespace crescent
