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
bool survives_failing_call(const Saver& saver, const char* call, int n, int error, bool is_lasting,
                           int& warning_count) {
  CAPTURE(saver.name, call, n, error, is_lasting);
  const Folder folder;
  const std::string path = folder / ("m" + saver.ending);
  saver.save(path, 1);
  const size_t file_count_before = folder.count();
  const Warnings warnings;
  std::string message;
  bool was_reached = false;
  {
    const FailingCall fault(call, n, error, is_lasting);
    message = failure([&] { saver.save(path, 2); });
    was_reached = fault.was_reached();
  }
  const int generation = saver.load(path);
  CHECK(generation == (message.empty() ? 2 : 1));
  if (!message.empty()) CHECK(contains(message, path));
  CHECK(folder.count() == file_count_before);
  if (was_reached) CHECK(warnings.count() == message.empty());
  warning_count += warnings.count();
  saver.save(path, 3);
  CHECK(saver.load(path) == 3);
  return was_reached;
}

TEST_CASE("S03: whichever call fails while saving, the old file stays or the new one is whole") {
  for (const Saver& saver : savers(20))
    for (const char* call : kCallsOfSaving) {
      int injection_count = 0, warning_count = 0;
      for (const int error : {EIO, ENOSPC})
        for (const bool is_lasting : {false, true})
          for (int n = 1; survives_failing_call(saver, call, n, error, is_lasting, warning_count);
               ++n, ++injection_count)
            REQUIRE(n < 1000);
      CHECK(injection_count > 0);
      report("S03 the n-th " + std::string(call) + " fails, saving " + saver.name, injection_count,
             std::to_string(injection_count - warning_count) + " errors, " +
                 std::to_string(warning_count) + " saved with a warning, 0 files lost");
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
  std::string temporary_path, folder;
  bool is_synced = false, is_renamed = false, is_folder_synced = false;
  for (const std::string& call : calls) {
    CAPTURE(call);
    if (call.starts_with("write ")) {
      CHECK_FALSE(is_renamed);
      is_synced = false, temporary_path = call.substr(6);
    } else if (call == "fsync " + temporary_path) {
      is_synced = true;
    } else if (call.starts_with("rename ")) {
      CHECK(is_synced);
      CHECK(call == "rename " + temporary_path + " " + path);
      is_renamed = true;
    } else if (call == "fsync " + std::filesystem::path(path).parent_path().string()) {
      is_folder_synced = is_renamed;
    }
  }
  CHECK((is_renamed && is_folder_synced));
}

TEST_CASE("S02: bytes reach the disk before the name, and the name before saving returns") {
  int saver_count = 0;
  for (const Saver& saver : savers(20)) {
    CAPTURE(saver.name);
    const Folder folder;
    const std::string path = folder / ("m" + saver.ending);
    saver.save(path, 1);
    const CallRecording recording;
    saver.save(path, 2);
    check_order(recording.calls(), path);
    ++saver_count;
  }
  report("S02 loss of power between any two calls", saver_count, "the old file or the new one");
}

}  // namespace
}  // namespace crescent::faults
