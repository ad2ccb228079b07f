// Saving while system calls fail: afterwards the file is the old or the new one, the error has a
// message, and no temporary file is left.
#include <cerrno>

#include "crescent/system/file.h"
#include "report.h"
#include "savers.h"
#include "system_calls.h"

namespace crescent::faults {
namespace {

/// Counts the warnings that are raised while an object of this class exists.
class Warnings {
 public:
  Warnings() {
    count_ = 0;
    set_warning_handler([](std::string_view) { ++count_; });
  }
  ~Warnings() { set_warning_handler(nullptr); }
  int count() const { return count_; }

 private:
  inline static int count_ = 0;
};

/// Saves generation 2 over generation 1 while the n-th call of this system function fails; returns
/// false if there are fewer calls.
bool survives(const Saver& saver, const char* call, int n, int error, bool lasts, int& warned) {
  CAPTURE(saver.name, call, n, error, lasts);
  const Folder folder;
  const std::string path = folder / ("m" + saver.ending);
  saver.save(path, 1);
  const size_t files = folder.count();
  const Warnings warnings;
  std::string message;
  bool happened = false;
  {
    const Failing fault(call, n, error, lasts);
    message = failure([&] { saver.save(path, 2); });
    happened = fault.happened();
  }
  const int generation = saver.load(path);
  CHECK(generation == (message.empty() ? 2 : 1));
  if (!message.empty()) CHECK(contains(message, path));
  CHECK(folder.count() == files);
  if (happened) CHECK(warnings.count() == message.empty());
  warned += warnings.count();
  saver.save(path, 3);
  CHECK(saver.load(path) == 3);
  return happened;
}

TEST_CASE("S03: whichever call fails while saving, the old file stays or the new one is whole") {
  for (const Saver& saver : savers(20))
    for (const char* call : kCallsOfSaving) {
      int times = 0, warned = 0;
      for (const int error : {EIO, ENOSPC})
        for (const bool lasts : {false, true})
          for (int n = 1; survives(saver, call, n, error, lasts, warned); ++n, ++times)
            REQUIRE(n < 1000);
      CHECK(times > 0);
      report("S03 the n-th " + std::string(call) + " fails, saving " + saver.name, times,
             std::to_string(times - warned) + " errors, " + std::to_string(warned) +
                 " saved with a warning, 0 files lost");
    }
}

TEST_CASE("S06: short and interrupted writes give the same file") {
  for (const Saver& saver : savers(2)) {
    CAPTURE(saver.name);
    const Folder folder;
    const std::string path = folder / ("m" + saver.ending);
    saver.save(path, 1);
    const std::string content = read_file(path);
    {
      const ShortWrites short_writes;
      saver.save(path, 1);
    }
    CHECK(read_file(path) == content);
    report("S06 short and interrupted writes, saving " + saver.name, 1, "the same bytes");
  }
}

/// Checks that no power failure between two of the recorded calls can lose data: a rename may reach
/// the disk at once, so the file's content must have been synced before it.
void check_order(const std::vector<std::string>& calls, const std::string& path) {
  std::string temporary, folder;
  bool synced = false, renamed = false, folder_synced = false;
  for (const std::string& call : calls) {
    CAPTURE(call);
    if (call.starts_with("write ")) {
      CHECK_FALSE(renamed);
      synced = false, temporary = call.substr(6);
    } else if (call == "fsync " + temporary) {
      synced = true;
    } else if (call.starts_with("rename ")) {
      CHECK(synced);
      CHECK(call == "rename " + temporary + " " + path);
      renamed = true;
    } else if (call == "fsync " + std::filesystem::path(path).parent_path().string()) {
      folder_synced = renamed;
    }
  }
  CHECK((renamed && folder_synced));
}

TEST_CASE("S02: bytes reach the disk before the name, and the name before saving returns") {
  int saver_count = 0;
  for (const Saver& saver : savers(20)) {
    CAPTURE(saver.name);
    const Folder folder;
    const std::string path = folder / ("m" + saver.ending);
    saver.save(path, 1);
    const Recording recording;
    saver.save(path, 2);
    check_order(recording.calls(), path);
    ++saver_count;
  }
  report("S02 loss of power between any two calls", saver_count, "the old file or the new one");
}

}  // namespace
}  // namespace crescent::faults
