// Arrays that stay in files while training reads them: every order of samples, read-ahead, and
// errors of reading.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "array_files.h"
#include "crescent/crescent.h"
#include "small_model.h"

using namespace crescent;
using Catch::Contains;
using small::boxed;

namespace {

/// A file of the test that is removed at the end; if an array is given it contains the array.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Tensor& content = {}) {
    static int count = 0;
    path = "streaming_test_" + std::to_string(count++) + ".npy";
    if (content) write_npy(path, content);
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  std::string path;
};

Tensor whole_numbers(int64_t n) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return Tensor::from(values, {n});
}

/// Writes `values` (float32) as an idx file. Its big-endian numbers must be converted, so the file
/// cannot be mapped into memory.
void write_idx(const std::string& path, const Tensor& values) {
  auto reversed_bytes = [](auto number) {
    char bytes[4];
    std::memcpy(bytes, &number, 4);
    return std::string{bytes[3], bytes[2], bytes[1], bytes[0]};
  };
  std::ofstream file(path, std::ios::binary);
  file << std::string("\0\0\x0d", 3) << static_cast<char>(values.rank());
  for (int64_t dim : values.shape()) file << reversed_bytes(static_cast<int32_t>(dim));
  for (double value : values.to_vector()) file << reversed_bytes(static_cast<float>(value));
}

std::shared_ptr<Sequential> compiled_model() {
  set_random_seed(3);
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 8}, {"activation", "tanh"}, {"input_shape", List{3}}}),
       make<Layer>("Dense", {{"units", 1}})});
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}});
  return model;
}

/// The inputs of an epoch as numbers; checks that each target equals its input.
std::vector<double> epoch_of(const DatasetPtr& data) {
  std::vector<double> values;
  Batch batch;
  for (data->begin_epoch(); data->next(batch);) {
    const std::vector<double> x = batch.x.front().to_vector(), y = batch.y.front().to_vector();
    REQUIRE(x == y);
    values.insert(values.end(), x.begin(), x.end());
  }
  return values;
}

}  // namespace

TEST_CASE("a tensor in a file has a shape, slices and, once cloned, values") {
  const Tensor values = SeedGenerator(1).normal({20, 3});
  const TemporaryFile file(values);
  const Tensor in_file = open_npy(file.path);
  CHECK(in_file.spec() == values.spec());
  CHECK_FALSE(in_file.in_memory());
  CHECK(in_file.clone().to_vector() == values.to_vector());
  CHECK(in_file.view_rows(5, 2).clone().to_vector() == values.view_rows(5, 2).to_vector());
  CHECK_THROWS_WITH(in_file + Tensor(1.0), Contains(file.path) && Contains("clone()"));
  CHECK(to_text(in_file) == "<float32(20, 3) in '" + file.path + "'>");
  CHECK_THROWS_WITH(open_npy("/nonexistent/x.npy"), Contains("/nonexistent/x.npy"));
  CHECK_THROWS_WITH(open_npy("/dev/null"), Contains("not a regular file"));
  std::filesystem::resize_file(file.path, 200);
  CHECK_THROWS_WITH(in_file.clone(), Contains(file.path) && Contains("ends at offset 200"));
  CHECK_THROWS_WITH(open_npy(file.path), Contains("expected 240 bytes"));
}

TEST_CASE("idx files have their bytes in the other order; damaged packed ones are refused") {
  const TemporaryFile file;
  std::ofstream(file.path, std::ios::binary)
      << std::string("\0\0\x0c\1\0\0\0\2\0\0\1\0\xff\xff\xff\xfe", 16);
  CHECK(open_idx(file.path).clone().to_vector() == std::vector<double>{256, -2});
  std::ofstream(file.path, std::ios::binary) << std::string("\0\0\x0b\1\0\0\0\1\0\1", 10);
  CHECK_THROWS_WITH(open_idx(file.path), Contains("read_idx"));
  std::ofstream(file.path, std::ios::binary) << "\x1f\x8b...";
  CHECK_THROWS_WITH(open_idx(file.path), Contains("the gzip data is damaged"));
}

TEST_CASE("training from files gives the numbers of training from memory") {
  const Tensor x = SeedGenerator(5).normal({50, 3}), y = ops::sum(x, {1}, true);
  const TemporaryFile x_file(x), y_file(y), swapped_file;
  write_idx(swapped_file.path, x);
  for (const Value& shuffle : {Value(false), Value("batch")}) {
    const Dict options{{"batch_size", 8},
                       {"epochs", 3},
                       {"verbose", 0},
                       {"shuffle", shuffle},
                       {"validation_split", 0.2}};
    auto from_memory = compiled_model(), from_files = compiled_model(),
         from_both = compiled_model(), from_swapped = compiled_model();
    from_memory->fit({x}, {y}, options);
    from_files->fit({open_npy(x_file.path)}, {open_npy(y_file.path)}, options);
    from_both->fit({x}, {open_npy(y_file.path)}, options);
    from_swapped->fit({open_idx(swapped_file.path)}, {open_npy(y_file.path)}, options);
    CHECK(from_files->history()->at("val_loss") == from_memory->history()->at("val_loss"));
    CHECK(from_both->history()->at("val_loss") == from_memory->history()->at("val_loss"));
    CHECK(from_swapped->history()->at("val_loss") == from_memory->history()->at("val_loss"));
    const Tensor expected = from_memory->predict({x}).front();
    CHECK(from_files->predict({open_npy(x_file.path)}).front().to_vector() == expected.to_vector());
    CHECK(from_files->evaluate({open_npy(x_file.path)}, {open_npy(y_file.path)}, {{"verbose", 0}})
              .front()
              .second == from_memory->evaluate({x}, {y}, {{"verbose", 0}}).front().second);
  }
}

TEST_CASE(
    "an epoch of shuffled files has every sample once, in a new order that the seed decides") {
  constexpr int64_t kSamples = 3001;
  const Tensor in_memory = whole_numbers(kSamples);
  const TemporaryFile file(in_memory), wide_file;
  {  // 47 MiB, more than two read-ahead windows; a sparse file that takes no space on the disk
    const TemporaryFile small_file(Tensor({1, 16384}, DType::uint8));
    std::filesystem::copy_file(small_file.path, wide_file.path);
    std::fstream header(wide_file.path, std::ios::in | std::ios::out | std::ios::binary);
    std::string text(128, '\0');
    header.read(text.data(), 128);
    text.replace(text.find("(1, 16384), }"), 16, "(3001, 16384), }");
    header.seekp(0).write(text.data(), 128);
  }
  std::filesystem::resize_file(wide_file.path, 128 + kSamples * 16384);
  const SeedGenerator order(7), same_order(7);
  const Tensors y{open_npy(file.path), open_npy(wide_file.path)};
  const DatasetPtr data =
      array_dataset({in_memory}, y, {}, {.batch_size = 64, .shuffle = true, .order = &order});
  const DatasetPtr data_in_same_order = prefetch(
      array_dataset({in_memory}, y, {}, {.batch_size = 64, .shuffle = true, .order = &same_order}));
  const std::vector<double> first_epoch = epoch_of(data), second_epoch = epoch_of(data);
  CHECK(first_epoch != second_epoch);
  CHECK(epoch_of(data_in_same_order) == first_epoch);
  CHECK(epoch_of(data_in_same_order) == second_epoch);
  int64_t neighbour_count = 0;
  for (size_t i = 1; i < first_epoch.size(); ++i)
    neighbour_count += first_epoch[i] == first_epoch[i - 1] + 1;
  CHECK(neighbour_count < 50);
  for (std::vector<double> sorted_epoch : {first_epoch, second_epoch}) {
    std::sort(sorted_epoch.begin(), sorted_epoch.end());
    CHECK(sorted_epoch == in_memory.to_vector());
  }
}

TEST_CASE("what cannot be read ends the run with its reason; the model stays") {
  const Tensor x = SeedGenerator(5).normal({4000, 3});
  const TemporaryFile file(x);
  const Tensor in_file = open_npy(file.path);
  std::filesystem::resize_file(file.path, 20000);
  auto model = compiled_model();
  CHECK_THROWS_WITH(model->fit({in_file}, {Tensor({4000, 1}, DType::float32)},
                               {{"verbose", 0}, {"shuffle", false}}),
                    Contains(file.path) && Contains("ends at offset 20000"));
  model->fit({x}, {Tensor({4000, 1}, DType::float32)}, {{"verbose", 0}});
}

TEST_CASE(
    "a file that becomes shorter while it is in use is an error, not the end of the process") {
  const Tensor x = SeedGenerator(5).normal({4000, 3});
  for (const bool shuffle : {false, true}) {
    const TemporaryFile file(x);
    const SeedGenerator order(7);
    const DatasetPtr data = array_dataset(
        {open_npy(file.path)}, {}, {}, {.batch_size = 1000, .shuffle = shuffle, .order = &order});
    Batch batch;
    data->begin_epoch();
    REQUIRE(data->next(batch));
    std::filesystem::resize_file(file.path, 200);
    CHECK(batch.x.front().to_vector().size() == 3000);
    CHECK_THROWS_WITH(data->check(), Contains(file.path) && Contains("ends at offset 200"));
    CHECK_THROWS_WITH(data->next(batch), Contains(file.path) && Contains("ends at offset 200"));
  }
  class FileTruncator final : public Callback {
   public:
    explicit FileTruncator(std::string path) : path_(std::move(path)) {}
    void on_train_batch_begin(int64_t, const Logs&) override {
      std::filesystem::resize_file(path_, 200);
    }

   private:
    std::string path_;
  };
  const TemporaryFile file(x);
  const Tensor in_file = open_npy(file.path);
  auto model = compiled_model();
  CHECK_THROWS_WITH(model->fit({in_file}, {Tensor({4000, 1}, DType::float32)},
                               {{"verbose", 0},
                                {"batch_size", 4000},
                                {"shuffle", false},
                                {"steps_per_epoch", 1},
                                {"callbacks", std::make_shared<FileTruncator>(file.path)}}),
                    Contains(file.path) && Contains("ends at offset 200"));
  CHECK_THROWS_WITH(in_file.clone(), Contains("ends at offset 200"));
}

TEST_CASE("what is written into a batch of a file stays out of the file and of later batches") {
  const Tensor x = SeedGenerator(5).normal({100, 3});
  const TemporaryFile file(x);
  const Tensor in_file = open_npy(file.path);
  Batch batch;
  // Both datasets write to the same Batch object.
  for (const int64_t batch_size : {100, 64}) {
    const SeedGenerator order(7);
    const DatasetPtr data =
        array_dataset({in_file}, {}, {},
                      {.batch_size = batch_size, .shuffle = batch_size == 64, .order = &order});
    data->begin_epoch();
    REQUIRE(data->next(batch));
  }
  const DatasetPtr smaller_batches = array_dataset({in_file}, {}, {}, {.batch_size = 100});
  smaller_batches->begin_epoch();
  REQUIRE(smaller_batches->next(batch));
  CHECK(batch.x.front().to_vector() == x.to_vector());
}

TEST_CASE(
    "prefetch gives what was made before an error, begins again in the middle, and ends while it "
    "works") {
  std::atomic<int> batch_count = 0;
  auto source = generator_dataset([&](Batch& batch) {
    if (batch_count == 5) fail("no more than five");
    batch.x = {Tensor::scalar(batch_count++)};
    return true;
  });
  const DatasetPtr data = prefetch(source);
  Batch batch;
  data->begin_epoch();
  for (int i = 0; i < 5; ++i) {
    REQUIRE(data->next(batch));
    CHECK(batch.x.front().item() == i);
  }
  CHECK_THROWS_WITH(data->next(batch), "no more than five");
  CHECK_FALSE(data->next(batch));
  batch_count = 0;
  data->begin_epoch();
  REQUIRE(data->next(batch));
  batch_count = 0;
  data->begin_epoch();
  REQUIRE(data->next(batch));
  const DatasetPtr slow_dataset = prefetch(generator_dataset([](Batch& next_batch) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    next_batch.x = {Tensor::scalar(1)};
    return true;
  }));
  for (int i = 0; i < 20; ++i) {
    slow_dataset->begin_epoch();
    slow_dataset->next(batch);
  }
}

TEST_CASE("steps go on over the end of a file; a run that stops early leaves no thread") {
  const Tensor x = SeedGenerator(5).normal({64, 3}), y = ops::sum(x, {1}, true);
  const TemporaryFile x_file, y_file(y);
  write_idx(x_file.path, x);
  const Tensor x_in = open_idx(x_file.path), y_in = open_npy(y_file.path);
  auto count_threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  auto model = compiled_model();
  const Dict options{{"batch_size", 8},
                     {"steps_per_epoch", 5},
                     {"epochs", 4},
                     {"verbose", 0},
                     {"validation_data", List{boxed(x_in), boxed(y_in)}}};
  model->fit({x_in}, {y_in}, options);
  const auto threads_before = count_threads();
  CHECK(model->fit({x_in}, {y_in}, options)->epoch().size() == 4);
  class Stop final : public Callback {
   public:
    void on_train_batch_end(int64_t, const Logs&) override { interrupt(); }
  };
  model->fit({x_in}, {y_in},
             {{"batch_size", 1}, {"verbose", 0}, {"callbacks", std::make_shared<Stop>()}});
  CHECK(interrupted());
  clear_interrupt();
  CHECK(count_threads() == threads_before);
}

TEST_CASE("class weights of targets in a file") {
  const Tensor x = SeedGenerator(5).normal({32, 3}),
               y = ops::cast(ops::greater(ops::sum(x, {1}, true), Tensor(0.0)), DType::float32);
  const TemporaryFile y_file(y);
  auto in_memory = compiled_model(), in_file = compiled_model();
  const Dict options{
      {"verbose", 0}, {"shuffle", false}, {"class_weight", Dict{{"0", 1.0}, {"1", 3.0}}}};
  CHECK(in_file->fit({x}, {open_npy(y_file.path)}, options)->at("loss") ==
        in_memory->fit({x}, {y}, options)->at("loss"));
}
