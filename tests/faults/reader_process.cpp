// The process that reads HDF5 files for Crescent is killed, stopped, missing, impossible to start,
// or replaced by another program (F27 of README.md in this folder).
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>

#include "child.h"
#include "file_reader.h"
#include "report.h"
#include "savers.h"
#include "system_calls.h"

namespace crescent::faults {
namespace {

using hdf5::Child, hdf5::FileReader, hdf5::Operation, hdf5::Packer;

/// Writes a file with one array named "values"; returns its path.
std::string file_in(const Folder& folder) {
  for (const Saver& saver : savers(20))
    if (saver.name == "an array as .h5") saver.save(folder / "a.h5", 1);
  return folder / "a.h5";
}

pid_t youngest_child() {
  pid_t child = -1;
  std::ifstream children("/proc/thread-self/children");
  for (pid_t next; children >> next;) child = next;
  REQUIRE(child > 0);
  return child;
}

TEST_CASE("F27: a reader that is killed is one sentence that names file and place") {
  const Folder folder;
  const std::string path = file_in(folder);
  FileReader reader(path);
  kill(youngest_child(), SIGKILL);
  const std::string message = failure([&] { reader.describe({"values"}); });
  CHECK_THAT(message,
             Catch::Contains(path) && Catch::Contains("SIGKILL") && Catch::Contains("'/values'"));
  CHECK(failure([&] { FileReader(path).describe({"values"}); }) == "");
  report("F27 the reader process is killed", 1, "an error that names file and place");
}

TEST_CASE("F27: a reader that is stopped is given up when its time is over") {
  const Folder folder;
  Descriptor file(open(file_in(folder).c_str(), O_RDONLY | O_CLOEXEC)),
      memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Child child(file, memory, std::filesystem::file_size(folder / "a.h5"), 1);
  REQUIRE(child.receive());  // from now on the child has the file open
  const pid_t process = youngest_child();
  kill(process, SIGSTOP);
  const auto start = std::chrono::steady_clock::now();
  Packer request;
  request.add(Operation::list).add(uint64_t{1}).add(std::string_view());
  CHECK(child.send(request));
  CHECK_FALSE(child.receive());
  CHECK(child.failure_reason() == "did not answer within 1 seconds");
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(seconds < 3);
  CHECK(kill(process, 0) != 0);
  report("F27 the reader process is stopped", 1,
         "given up after its time and " + std::to_string(seconds - 1).substr(0, 4) + " s");
}

TEST_CASE("F27: a reader that is missing or cannot be started is reported; nothing else reads") {
  const Folder folder;
  const std::string path = file_in(folder);
  const auto load = [&] { return failure([&] { FileReader reader(path); }); };
  {
    const FailingCall fault("access", 1, ENOENT, true);
    CHECK_THAT(load(),
               Catch::Contains("crescent-h5read, is missing") && Catch::Contains("install"));
  }
  for (const int error : {EAGAIN, ENOMEM, EACCES}) {
    const FailingCall fault("posix_spawn", 1, error, true);
    CHECK_THAT(load(), Catch::Contains("cannot start") && Catch::Contains(strerror(error)));
  }
  CHECK(load() == "");
  report("F27 the reader process is missing or cannot be started", 4, "an error, no other reader");
}

TEST_CASE("ends at once", "[.worker]") { _exit(3); }

TEST_CASE("is of another version", "[.worker]") {
  send_frame(hdf5::kSocketDescriptor, Packer().add(hdf5::kWireVersion + 1).add(uint8_t{0}));
}

TEST_CASE("sends nonsense", "[.worker]") {
  const std::string bytes(100, '\xff');
  (void)!::write(hdf5::kSocketDescriptor, bytes.data(), bytes.size());
}

TEST_CASE("F27: a reader of another version, or another program, is reported") {
  const Folder folder;
  const std::string path = file_in(folder);
  for (const char* program : {"ends at once", "is of another version", "sends nonsense"}) {
    CAPTURE(program);
    const OtherProgram other(program);
    CHECK_THAT(failure([&] { FileReader reader(path); }),
               Catch::Contains(path) || Catch::Contains("crescent-h5read is of another version"));
  }
  report("F27 the reader process is of another version or another program", 3, "an error");
}

}  // namespace
}  // namespace crescent::faults
