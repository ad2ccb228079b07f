// Files that other processes write, truncate or remove while this process reads them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array_files.h"
#include "crescent/crescent.h"
#include "report.h"
#include "savers.h"
#include "worker.h"

namespace crescent::faults {
namespace {

TEST_CASE("saves often", "[.worker]") {
  const Saver saver = savers(2).at(std::stoul(worker_argument(0)));
  const int first_generation = std::stoi(worker_argument(2)),
            save_count = std::stoi(worker_argument(3));
  for (int i = 0; i < save_count; ++i) saver.save(worker_argument(1), first_generation + i);
}

TEST_CASE("S07: a reader of a file that two processes save to always sees a whole one") {
  constexpr int kSaves = 500;
  const std::vector<Saver> all_savers = savers(2);
  int64_t reads = 0;
  for (size_t i = 0; i < all_savers.size(); ++i) {
    CAPTURE(all_savers[i].name);
    const Folder folder;
    const std::string path = folder / ("m" + all_savers[i].ending);
    all_savers[i].save(path, 1);
    const std::string saver_number = std::to_string(i);
    // The first saver does kSaves saves, each of the others a tenth of this number.
    const std::string save_count = std::to_string(i == 0 ? kSaves : kSaves / 10);
    Worker first_writer("saves often", {saver_number, path, "1000", save_count}),
        second_writer("saves often", {saver_number, path, "2000", save_count});
    for (; first_writer.runs() || second_writer.runs(); ++reads) {
      const std::string message = failure([&] { all_savers[i].load(path); });
      REQUIRE(message == "");
    }
    CHECK((first_writer.wait() == 0 && second_writer.wait() == 0));
    CHECK(folder.count() == 1);
  }
  report("S07 reads while two processes save to the same file", reads, "0 errors");
}

// ---- files that vanish or are truncated while they are read

constexpr int kWidthOfCutFiles = 500;

TEST_CASE("loads for a while", "[.worker]") {
  const Saver saver = savers(kWidthOfCutFiles).at(std::stoul(worker_argument(0)));
  const std::string path = worker_argument(1);
  for (int i = 0; i < 60; ++i) (void)failure([&] { saver.load(path); });
}

/// Overwrites the file in place, which other programs may do but Crescent never does.
void spoil_in_place(const std::string& path, const std::string& bytes, int round) {
  if (round % 3 == 0) std::filesystem::remove(path);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return;
  const size_t half = bytes.size() / 2;
  (void)!::write(file, bytes.data(), half);
  usleep(300);
  if (round % 2 == 0) (void)!::write(file, bytes.data() + half, bytes.size() - half);
  close(file);
}

TEST_CASE("F14: files that vanish, are cut or rewritten while they are read end in an error") {
  const std::vector<Saver> all_savers = savers(kWidthOfCutFiles);
  int64_t change_count = 0;
  for (size_t i = 0; i < all_savers.size(); ++i) {
    CAPTURE(all_savers[i].name);
    const Folder folder;
    const std::string path = folder / ("m" + all_savers[i].ending);
    all_savers[i].save(path, 1);
    const std::string content = read_file(path);
    Worker reader("loads for a while", {std::to_string(i), path});
    for (int round = 0; reader.runs(); ++round, ++change_count)
      spoil_in_place(path, content, round);
    CHECK(reader.wait() == 0);
  }
  report("files removed, cut and rewritten in place while they are read", change_count,
         "0 readers died");
}

TEST_CASE("trains on a file that is cut", "[.worker]") {
  const std::string path = worker_argument(0);
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{64}}})});
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  const Tensor x = open_array(path), y = ops::zeros({x.dim(0), 1});
  replace_file(path + ".open", std::string());  // tells the test that the file may be truncated now
  CHECK_THROWS_AS(model->fit({x}, {y}, {{"batch_size", 16}, {"epochs", 100'000}, {"verbose", 0}}),
                  Error);
}

TEST_CASE("data that is cut while a model trains on it is an error, not a dead process") {
  const Tensor x = SeedGenerator(1).normal({20'000, 64});
  int64_t change_count = 0;
  for (const char* name : {"x.npy", "x.h5"}) {
    CAPTURE(name);
    const Folder folder;
    const std::string path = folder / name;
    write_arrays(path, {{"x", x}});
    Worker worker("trains on a file that is cut", {path});
    while (worker.runs() && !std::filesystem::exists(path + ".open")) usleep(1000);
    usleep(100'000);
    REQUIRE(worker.runs());
    REQUIRE(truncate(path.c_str(), 4096) == 0);
    CHECK(worker.wait() == 0);
    ++change_count;
  }
  report("a file of data is cut while a model trains on it", change_count,
         "an error, 0 processes died");
}

}  // namespace
}  // namespace crescent::faults
