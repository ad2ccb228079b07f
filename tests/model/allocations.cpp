// After the first epoch, a training step must allocate neither tensor memory nor other memory.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "array_files.h"
#include "crescent/crescent.h"

namespace {
std::atomic<uint64_t> new_call_count = 0;
}

// GCC cannot see that the replaced operators new and delete belong together.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t size) {
  ++new_call_count;
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++new_call_count;
  return std::malloc(size ? size : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

using namespace crescent;

namespace {

/// Counts the allocations between the ends of two consecutive batches.
class AllocationCounter final : public Callback {
 public:
  void on_epoch_begin(int64_t epoch, const Logs&) override { epoch_ = epoch; }
  void on_train_batch_end(int64_t batch, const Logs&) override {
    const uint64_t storage_count = allocation_count(), new_calls_so_far = new_call_count;
    // From epoch 10 on, all buffers of a prefetching run have been used once.
    if (epoch_ > 9 && batch > 0) {
      max_storages_per_step =
          std::max(max_storages_per_step, storage_count - previous_storage_count_);
      max_new_calls_per_step =
          std::max(max_new_calls_per_step, new_calls_so_far - previous_new_call_count_);
      ++step_count;
    }
    previous_storage_count_ = allocation_count();
    previous_new_call_count_ = new_call_count;
  }
  uint64_t max_storages_per_step = 0, max_new_calls_per_step = 0;
  int step_count = 0;

 private:
  int64_t epoch_ = 0;
  uint64_t previous_storage_count_ = 0, previous_new_call_count_ = 0;
};

}  // namespace

TEST_CASE("a running training step allocates nothing, from memory and from files") {
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 16}, {"activation", "relu"}, {"input_shape", List{8}}}),
       make<Layer>("Dropout", {{"rate", 0.2}}),
       make<Layer>("Dense", {{"units", 4}, {"activation", "softmax"}})});
  model->compile({{"optimizer", "adam"},
                  {"loss", "sparse_categorical_crossentropy"},
                  {"metrics", List{"accuracy"}}});
  const Tensor x = SeedGenerator(1).normal({64, 8}), y({64}, DType::int32);
  write_npy("allocations_x.npy", x);
  write_npy("allocations_y.npy", y);
  const std::pair in_memory(x, y),
      in_files(open_npy("allocations_x.npy"), open_npy("allocations_y.npy"));
  for (const auto& [arrays, shuffle] : {std::pair(in_memory, Value(true)),
                                        {in_memory, Value(false)},
                                        {in_files, Value(false)},
                                        {in_files, Value("batch")}}) {
    auto counter = std::make_shared<AllocationCounter>();
    model->fit({arrays.first}, {arrays.second},
               {{"epochs", 20},
                {"batch_size", 8},
                {"verbose", 0},
                {"shuffle", shuffle},
                {"callbacks", counter}});
    CHECK(counter->step_count > 0);
    CHECK(counter->max_storages_per_step == 0);
    CHECK(counter->max_new_calls_per_step == 0);
  }
  std::remove("allocations_x.npy");
  std::remove("allocations_y.npy");
}

TEST_CASE("images are changed at random without allocating") {
  std::vector<LayerPtr> layers{
      make<Layer>("RandomFlip", {{"input_shape", List{8, 8, 3}}}),
      make<Layer>("RandomCrop", {{"height", 6}, {"width", 7}}),
      make<Layer>("RandomTranslation", {{"height_factor", 0.1}, {"width_factor", 0.1}}),
      make<Layer>("RandomContrast", {{"factor", 0.2}}),
      make<Layer>("RandomHue", {{"factor", 0.2}}),
      make<Layer>("RandomErasing"),
      make<Layer>("Equalization"),
      make<Layer>("MixUp"),
      make<Layer>("Flatten"),
      make<Layer>("Dense", {{"units", 4}})};
  auto model = Sequential::make(layers);
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  auto counter = std::make_shared<AllocationCounter>();
  model->fit({SeedGenerator(1).uniform({64, 8, 8, 3}, 0, 255)}, {Tensor({64, 4}, DType::float32)},
             {{"epochs", 20}, {"batch_size", 8}, {"verbose", 0}, {"callbacks", counter}});
  CHECK(counter->step_count > 0);
  CHECK(counter->max_storages_per_step == 0);
  CHECK(counter->max_new_calls_per_step == 0);
}
