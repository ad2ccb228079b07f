// A save happens completely or not at all. These tests fork; because of the name of this file they
// run before tests that start threads.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <random>

#include "array_files.h"
#include "crescent/data/data.h"
#include "crescent/io/format.h"
#include "crescent/ops/ops.h"
#include "scratch.h"

namespace crescent::hdf5 {
namespace {

void save(const std::string& path, const std::string& text) { replace_file(path, text); }

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &previous_limit_);
    rlimit limit{bytes, previous_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &previous_limit_); }

 private:
  rlimit previous_limit_;
};

TEST_CASE("a full disk is an error and leaves the old file", "[S03]") {
  Scratch scratch;
  std::string path = scratch.path("m.h5");
  save(path, "old");
  {
    FileSizeLimit limit(100'000);
    std::string message = failure([&] { save(path, std::string(1'000'000, 'n')); });
    CHECK(contains(message, path));
    CHECK(contains(message, "1000000 bytes needed"));
    CHECK(contains(message, "untouched"));
  }
  CHECK(read_bytes(path) == "old");
  CHECK(scratch.count() == 1);
  save(path, "new");
  CHECK(read_bytes(path) == "new");
}

TEST_CASE("a full disk ends every kind of writing with an error, and leaves nothing behind") {
  Scratch scratch;
  const Tensor values = ops::zeros({100'000});
  const std::pair<const char*, std::function<void(const std::string&)>> writers[] = {
      {"a.npy", [&](const std::string& path) { write_npy(path, values); }},
      {"a.h5",
       [&](const std::string& path) {
         write_arrays(path, {{"x", values}});
       }},
      {"index.json",
       [](const std::string& path) { replace_file(path, std::string(200'000, 'i')); }}};
  for (const auto& [name, write] : writers) {
    CAPTURE(name);
    const std::string path = scratch.path(name);
    FileSizeLimit limit(100'000);
    CHECK(contains(failure([&] { write(path); }), "File too large"));
    CHECK(scratch.count() == 0);
  }
}

TEST_CASE("a symbolic link to nothing yet stays: what it leads to is made") {
  Scratch scratch;
  std::filesystem::create_directory(scratch.path("real"));
  std::filesystem::create_symlink("real/m.h5", scratch.path("first"));
  std::filesystem::create_symlink(scratch.path("first"), scratch.path("second"));
  save(scratch.path("second"), "new");
  CHECK(std::filesystem::is_symlink(scratch.path("first")));
  CHECK(std::filesystem::is_symlink(scratch.path("second")));
  CHECK(read_bytes(scratch.path("real/m.h5")) == "new");

  std::filesystem::create_symlink("no/such/m.h5", scratch.path("nowhere"));
  const std::string message = failure([&] { save(scratch.path("nowhere"), "new"); });
  CHECK(contains(message, scratch.path("nowhere") + "', which leads to '"));
  CHECK(contains(message, "No such file or directory"));
  CHECK(std::filesystem::is_symlink(scratch.path("nowhere")));

  std::filesystem::create_symlink("circle", scratch.path("circle"));
  CHECK(contains(failure([&] { save(scratch.path("circle"), "new"); }), "symbolic links"));
}

TEST_CASE("a path with a zero byte is refused, not cut") {
  Scratch scratch;
  const std::string path = scratch.path("m.h5") + std::string("\0.bak", 5);
  save(scratch.path("m.h5"), "old");
  CHECK(contains(failure([&] { save(path, "new"); }), "zero byte"));
  CHECK(contains(failure([&] { FileReader reader(path); }), "zero byte"));
  CHECK(read_bytes(scratch.path("m.h5")) == "old");
}

TEST_CASE("places where nothing can be saved are named", "[S04]") {
  Scratch scratch;
  CHECK(contains(failure([&] { save(scratch.path("no/such/m.h5"), "x"); }),
                 "No such file or directory"));
  std::filesystem::create_directory(scratch.path("folder"));
  CHECK(contains(failure([&] { save(scratch.path("folder"), "x"); }), "not a regular file"));
  REQUIRE(mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  CHECK(contains(failure([&] { save(scratch.path("pipe"), "x"); }), "not a regular file"));
  CHECK(contains(failure([&] { save(scratch.path(std::string(300, 'n')), "x"); }), "too long"));
}

TEST_CASE("a symbolic link stays, permissions stay, short names work") {
  Scratch scratch;
  std::filesystem::create_directory(scratch.path("real"));
  save(scratch.path("real/m.h5"), "old");
  chmod(scratch.path("real/m.h5").c_str(), 0640);
  std::filesystem::create_symlink("real/m.h5", scratch.path("link"));
  save(scratch.path("link"), "new");
  CHECK(std::filesystem::is_symlink(scratch.path("link")));
  CHECK(read_bytes(scratch.path("real/m.h5")) == "new");
  struct stat status;
  stat(scratch.path("real/m.h5").c_str(), &status);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("temporary files of dead processes are removed, those of living ones are not", "[S09]") {
  Scratch scratch;
  pid_t killed_process = fork();
  if (killed_process == 0) _exit(0);
  waitpid(killed_process, nullptr, 0);
  write_bytes(scratch.path(".m.h5.tmp-" + std::to_string(killed_process) + "-0"), "orphan");
  write_bytes(scratch.path(".m.h5.tmp-1-0"), "of init");
  write_bytes(scratch.path(".other.h5.tmp-" + std::to_string(killed_process) + "-0"),
              "of another file");
  save(scratch.path("m.h5"), "new");
  CHECK(scratch.count() == 3);
  CHECK_FALSE(
      std::filesystem::exists(scratch.path(".m.h5.tmp-" + std::to_string(killed_process) + "-0")));
}

TEST_CASE("a process killed while saving leaves the old or the new file") {
  Scratch scratch;
  std::string path = scratch.path("m.h5");
  auto content = [](int generation) {
    std::vector<float> values(200'000, static_cast<float>(generation));
    return Tree{dataset("w", ElementType::float32, {values.size()}, values)};
  };
  write_tree(path, content(0));
  std::mt19937 generator(1);
  for (int round = 0; round < 20; ++round) {
    pid_t child = fork();
    if (child == 0)
      for (int generation = 1;; ++generation) write_tree(path, content(generation));
    usleep(1000 + generator() % 15'000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    Array w = read_one(path, "w");  // a mixture of two generations would have a wrong checksum
    REQUIRE(w.shape == std::vector<uint64_t>{200'000});
  }
  save(path, "last");
  CHECK(scratch.count() == 1);
}

}  // namespace
}  // namespace crescent::hdf5
