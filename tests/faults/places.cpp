// Paths at which nothing can be saved: full disks, read-only folders, links, special files.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "crescent/system/file.h"
#include "report.h"
#include "savers.h"
#include "system_calls.h"
#include "worker.h"

namespace crescent::faults {
namespace {

/// Checks that saving fails with a message that contains the path and `reason`, and leaves nothing
/// in `folder`.
void check_refused(const Saver& saver, const Folder& folder, const std::string& path,
                   const std::string& reason) {
  CAPTURE(saver.name, path);
  const size_t old_count = folder.count();
  const std::string message = failure([&] { saver.save(path, 2); });
  CHECK_THAT(message, Catch::Contains(reason));
  CHECK_THAT(message, Catch::Contains(path));
  CHECK(folder.count() == old_count);
}

TEST_CASE("S04: limits, folders and targets that take no file are reported with path and reason") {
  int64_t attempt_count = 0;
  for (const Saver& saver : savers(20)) {
    const Folder folder;
    const auto check_refused_at = [&](const std::string& path, const std::string& reason) {
      check_refused(saver, folder, path, reason);
      ++attempt_count;
    };
    const std::string old_path = folder / ("m" + saver.ending);
    saver.save(old_path, 1);
    {
      rlimit old_limit;
      getrlimit(RLIMIT_FSIZE, &old_limit);
      const rlimit small_limit{10'000, old_limit.rlim_max};
      setrlimit(RLIMIT_FSIZE, &small_limit);
      check_refused_at(old_path, "File too large");
      setrlimit(RLIMIT_FSIZE, &old_limit);
    }
    for (const int error : {EROFS, EACCES, EDQUOT, EMFILE}) {
      const FailingCall fault("open", 1, error, true);
      check_refused_at(old_path, strerror(error));
    }
    CHECK(saver.load(old_path) == 1);
    check_refused_at(folder / ("no/such/m" + saver.ending), "no");
    check_refused_at(folder / (std::string(300, 'n') + saver.ending), "too long");
    std::filesystem::create_directory(folder / ("folder" + saver.ending));
    check_refused_at(folder / ("folder" + saver.ending), "fo");
    REQUIRE(mkfifo((folder / ("pipe" + saver.ending)).c_str(), 0600) == 0);
    check_refused_at(folder / ("pipe" + saver.ending), "not a regular file");
    std::filesystem::create_symlink("circle" + saver.ending, folder / ("circle" + saver.ending));
    check_refused_at(folder / ("circle" + saver.ending), "symbolic links");
  }
  report("S04 size limit, quota, read-only or missing folder, long name, odd target", attempt_count,
         "each an error with path and reason");
}

TEST_CASE("S04: a symbolic link at the target stays, and what it leads to is replaced") {
  int64_t attempt_count = 0;
  for (const Saver& saver : savers(20)) {
    CAPTURE(saver.name);
    const Folder folder;
    const std::string real_path = folder / ("real" + saver.ending),
                      link_path = folder / ("l" + saver.ending);
    std::filesystem::create_symlink("real" + saver.ending, link_path);
    for (int generation = 1; generation < 3; ++generation, ++attempt_count) {
      saver.save(link_path, generation);
      CHECK(std::filesystem::is_symlink(link_path));
      CHECK(saver.load(real_path) == generation);
      CHECK(saver.load(link_path) == generation);
    }
    CHECK(folder.count() == 2);
  }
  report("S04 a symbolic link at the target", attempt_count,
         "the link stays, its target is replaced");
}

/// Mounts a disk of 1 MiB that only this process can see; this needs root, or a user namespace.
bool mount_small_disk(const char* folder) {
  if (unshare(CLONE_NEWNS) != 0) {
    const std::string user_map = concat("0 ", geteuid(), " 1");
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << user_map;
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("small", folder, "tmpfs", 0, "size=1m") == 0;
}

TEST_CASE("saves on a small disk", "[.worker]") {
  const std::string disk = worker_argument(0);
  if (!mount_small_disk(disk.c_str())) _exit(77);
  // Files of 800 KB, so that the disk has no room for a second one.
  for (const Saver& saver : savers(200)) {
    CAPTURE(saver.name);
    const std::string path = disk + "/m" + saver.ending;
    saver.save(path, 1);
    CHECK_THAT(failure([&] { saver.save(path, 2); }), Catch::Contains("No space left on device"));
    CHECK(saver.load(path) == 1);
    const std::filesystem::directory_iterator files(disk);
    CHECK(std::distance(files, {}) == 1);
    std::filesystem::remove(path);
  }
}

TEST_CASE("S05: a full disk of 1 MiB keeps the old file and nothing else") {
  const Folder folder;
  Worker worker("saves on a small disk", {folder.path().string()});
  const int code = worker.wait();
  if (code == 77) return report("S05 a full disk of 1 MiB", 0, "left out: nothing can be mounted");
  CHECK(code == 0);
  report("S05 a full disk of 1 MiB", static_cast<int64_t>(savers(1).size()),
         "an error, the old file stays");
}

}  // namespace
}  // namespace crescent::faults
