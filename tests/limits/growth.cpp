// The time for large graphs is linear in their size: four times as many ops, layers or models take
// about four times as long, not sixteen.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>

#include "crescent/crescent.h"
#include "crescent/device/lowering.h"

using namespace crescent;

namespace {

/// The processor time of all threads of this process.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The shortest time of work(n) in seconds. The allocator keeps freed memory, so that page faults
/// do not count.
double seconds(const std::function<void(int64_t)>& work, int64_t n) {
  mallopt(M_TRIM_THRESHOLD, INT_MAX), mallopt(M_MMAP_MAX, 0);
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double begin = cpu_seconds();
    work(n);
    best = std::min(best, cpu_seconds() - begin);
  }
  return best;
}

constexpr int64_t kTimes = 4;

/// Compares the times for n and kTimes n. With n the data must already exceed the processor's
/// caches: an op in memory takes two to three times as long as one in a cache, which would look
/// like faster than linear growth.
void check_growth(const std::string& what, int64_t n, const std::function<void(int64_t)>& work) {
  constexpr double kSlack = 2.5;  // allowance for other processes that use the caches
  const double seconds_for_n = seconds(work, n), seconds_for_more = seconds(work, kTimes * n);
  WARN(what << ": " << n << " in " << seconds_for_n << " s, " << kTimes * n << " in "
            << seconds_for_more << " s");
  CHECK(seconds_for_more < kSlack * kTimes * seconds_for_n + 0.01);
}

/// Compiles a chain of n calls of `link`.
void compile_chain(int64_t n, const std::function<Tensor(const Tensor&, int64_t)>& link) {
  const Program program = trace(
      [&](const Tensors& in) {
        Tensor x = in[0];
        for (int64_t i = 0; i < n; ++i) x = link(x, i);
        return Tensors{x};
      },
      TensorSpecs{{DType::float32, {4, 4}}});
  compile(optimize(program));
}

std::shared_ptr<Sequential> deep_model(int64_t layer_count) {
  std::vector<LayerPtr> layers;
  for (int64_t i = 0; i < layer_count; ++i)
    layers.push_back(make<Layer>("Dense", {{"units", 2}, {"input_shape", List{2}}}));
  const auto model = Sequential::make(layers);
  model->compile({{"loss", "mse"}, {"optimizer", "adam"}});
  return model;
}

void train(Model& model) {
  const Tensor x = Tensor::full({4, 2}, 1);
  model.fit({x}, {x}, {{"verbose", 0}});
}

}  // namespace

TEST_CASE("chains of ops compile in proportion to their length") {
  constexpr int64_t kMany = 30000, kFewer = 6000;
  check_growth("additions", kMany,
               [](int64_t n) { compile_chain(n, [](auto& x, int64_t) { return x + 1.0; }); });
  check_growth("numbers that all differ", kMany, [](int64_t n) {
    compile_chain(n, [](auto& x, int64_t i) { return x * (1 + 1e-6 * static_cast<double>(i)); });
  });
  check_growth("layers' scopes", kMany, [](int64_t n) {
    compile_chain(n, [](auto& x, int64_t i) {
      const ProgramScope scope(concat("layer_", i));
      return ops::sin(x);
    });
  });
  check_growth("reshapes", kMany, [](int64_t n) {
    compile_chain(n, [](auto& x, int64_t i) {
      return ops::reshape(ops::cumsum(x, 0), i % 2 ? Shape{4, 4} : Shape{2, 8});
    });
  });
  check_growth("running sums, which are no elementwise work", kMany, [](int64_t n) {
    compile_chain(n, [](auto& x, int64_t) { return ops::cumsum(x, 0); });
  });
  check_growth("products with an epilogue", kFewer, [](int64_t n) {
    compile_chain(n, [](auto& x, int64_t) { return ops::relu(ops::matmul(x, x) + 1.0); });
  });
}

TEST_CASE("deep models train, save and load in proportion to their depth") {
  constexpr int64_t kLayers = 250, kTrained = 750;
  check_growth("layers that train", kTrained, [](int64_t n) { train(*deep_model(n)); });
  char folder[] = "/tmp/crescent-growth-XXXXXX";
  REQUIRE(mkdtemp(folder));
  for (const char* ending : {".keras", ".h5"}) {
    const std::string path = std::string(folder) + "/m" + ending;
    std::shared_ptr<Sequential> models[2] = {deep_model(kLayers), deep_model(kTimes * kLayers)};
    for (const auto& model : models) train(*model);
    const auto model = [&](int64_t n) { return models[n == kLayers ? 0 : 1]; };
    check_growth(concat("layers saved as ", ending), kLayers,
                 [&](int64_t n) { save_model(*model(n), path); });
    for (int64_t n : {kLayers, kTimes * kLayers})
      save_model(*model(n), path + std::to_string(n) + ending);
    check_growth(concat("layers loaded from ", ending), kLayers,
                 [&](int64_t n) { load_model(path + std::to_string(n) + ending); });
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("models within a model are made and run in proportion to their number") {
  check_growth("models", 250, [](int64_t n) {
    std::vector<LayerPtr> layers;
    for (int64_t i = 0; i < n; ++i)
      layers.push_back(
          Sequential::make({make<Layer>("Dense", {{"units", 2}, {"input_shape", List{2}}})}));
    Sequential::make(layers)->predict({Tensor::full({1, 2}, 1)});
  });
}
