// Concurrent predictions of one model: results are bit-identical to those of a single caller, and
// each prediction uses the weights of a single moment.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "on_threads.h"
#include "small_model.h"

using namespace crescent;
using namespace crescent::small;

namespace {

constexpr int kThreads = 8;
const std::vector<std::string> kNoErrors(kThreads);

LayerPtr layer(const char* name, const Dict& options = {}) { return make<Layer>(name, options); }

/// A model for each family of kernels, and the shape of a sample.
struct KernelFamily {
  const char* name;
  Shape sample;
  std::vector<LayerPtr> (*layers)();
};

const std::vector<KernelFamily>& families() {
  static const std::vector<KernelFamily> families{
      {"mlp",
       {20},
       [] {
         return std::vector<LayerPtr>{layer("Dense", {{"units", 70}, {"activation", "relu"}}),
                                      layer("Dropout", {{"rate", 0.5}}),
                                      layer("Dense", {{"units", 10}, {"activation", "softmax"}})};
       }},
      {"conv",
       {12, 12, 3},
       [] {
         return std::vector<LayerPtr>{
             layer("Conv2D", {{"filters", 16}, {"kernel_size", 3}, {"activation", "relu"}}),
             layer("BatchNormalization"),
             layer("MaxPooling2D"),
             layer("Conv2D", {{"filters", 32}, {"kernel_size", 3}, {"padding", "same"}}),
             layer("Flatten"),
             layer("Dense", {{"units", 4}})};
       }},
      {"half",
       {12, 12, 8},
       [] {
         const char* policy = "mixed_bfloat16";
         return std::vector<LayerPtr>{
             layer("Conv2D", {{"filters", 16}, {"kernel_size", 3}, {"dtype", policy}}),
             layer("Flatten"), layer("Dense", {{"units", 40}, {"dtype", policy}}),
             layer("LayerNormalization"), layer("Dense", {{"units", 3}})};
       }},
      {"recurrent",
       {9, 6},
       [] {
         return std::vector<LayerPtr>{
             layer("LSTM", {{"units", 12}, {"return_sequences", true}}),
             layer("SimpleRNN", {{"units", 7}, {"return_sequences", true}}),
             layer("GRU", {{"units", 5}}), layer("Dense", {{"units", 2}})};
       }},
  };
  return families;
}

bool are_equal(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

Tensor samples(const KernelFamily& kernel_family, int64_t count) {
  return SeedGenerator(count).normal(Shape{count}.concat(kernel_family.sample));
}

/// An op that returns x if two threads run it at the same time, and -x otherwise.
struct WaitForOther final : OpOf<WaitForOther> {
  static constexpr const char* kName = "meet";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    ++run_count;
    while (run_count < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    const float sign = run_count >= 2 ? 1 : -1;
    for (int64_t i = 0; i < in[0].size(); ++i)
      out[0].mutable_data<float>()[i] = sign * in[0].data<float>()[i];
    return true;
  }
  inline static std::atomic<int> run_count{0};
};

/// An op (x) -> x that takes 200 ms.
struct SleepingOp final : OpOf<SleepingOp> {
  static constexpr const char* kName = "linger";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    is_running = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::memcpy(out[0].mutable_data<float>(), in[0].raw(), in[0].bytes());
    is_running = false;
    return true;
  }
  inline static std::atomic<bool> is_running{false};
};

template <class Operation>
class LayerOfOp final : public Layer {
 public:
  Tensors call(const Tensors& inputs, const Call&) override {
    return crescent::apply(std::make_shared<const Operation>(), inputs);
  }
};

}  // namespace

TEST_CASE("predictions of one model run at the same time") {
  const auto model = Sequential::make({std::make_shared<LayerOfOp<WaitForOther>>()});
  const Tensor x = data(4);
  WaitForOther::run_count = 2;
  model->predict({x});
  WaitForOther::run_count = 0;
  CHECK(on_threads(2, [&](int) {
          if (!are_equal(model->predict({x})[0], x)) fail("the other thread did not come");
        }) == std::vector<std::string>(2));
}

TEST_CASE("who takes a turn alone waits for predictions that run") {
  const auto model = Sequential::make({std::make_shared<LayerOfOp<SleepingOp>>()});
  const Tensor x = data(4);
  model->predict({x});
  std::thread caller([&] { model->predict({x}); });
  while (!SleepingOp::is_running) std::this_thread::yield();
  {
    const StepLock lock(*model);
    CHECK_FALSE(SleepingOp::is_running);
  }
  caller.join();
}

TEST_CASE("many callers with random sizes get the bits of one caller") {
  for (const KernelFamily& kernel_family : families()) {
    INFO(kernel_family.name);
    const auto model = Sequential::make(kernel_family.layers());
    const auto reference_model = Sequential::make(kernel_family.layers());
    model->predict({samples(kernel_family, 1)}),
        reference_model->predict({samples(kernel_family, 1)});
    reference_model->set_weights(model->get_weights());
    // The first calls run on all threads at once.
    const auto fresh_model = Sequential::make(kernel_family.layers());
    fresh_model->build({Shape{-1}.concat(kernel_family.sample)});
    fresh_model->set_weights(model->get_weights());
    constexpr int64_t kSizes = 12;
    Tensors inputs, expected;
    for (int64_t n = 1; n <= kSizes; ++n) {
      inputs.push_back(samples(kernel_family, n * n));
      expected.push_back(reference_model->predict({inputs.back()}, {{"batch_size", 16}})[0]);
    }
    CHECK(on_threads(kThreads, [&](int number) {
            SeedGenerator random(static_cast<uint64_t>(number) + 1);
            for (int i = 0; i < 30; ++i) {
              const auto n =
                  static_cast<size_t>(random.uniform({1}, 0, kSizes, DType::float64).item());
              const Tensor got = fresh_model->predict({inputs[n]}, {{"batch_size", 16}})[0];
              if (!are_equal(got, expected[n]))
                fail("other bits for ", inputs[n].dim(0), " samples");
            }
          }) == kNoErrors);
  }
}

TEST_CASE("callers beside a training see the weights between two of its steps") {
  const Tensor x = data(64), y = targets(x), predicted_inputs = data(40);
  const auto reference_model = small_model(), model = small_model();
  const Dict compile_options{{"optimizer", "adam"}, {"loss", "mse"}};
  reference_model->compile(compile_options), model->compile(compile_options);
  constexpr int kSteps = 150;
  std::set<std::vector<double>> possible_results{
      reference_model->predict_on_batch({predicted_inputs})[0].to_vector()};
  for (int step = 0; step < kSteps; ++step) {
    reference_model->train_on_batch({x}, {y});
    possible_results.insert(reference_model->predict_on_batch({predicted_inputs})[0].to_vector());
  }
  CHECK(possible_results.size() > kSteps / 2);
  std::atomic<bool> has_ended{false};
  CHECK(on_threads(kThreads, [&](int number) {
          if (number > 0) {
            while (!has_ended)
              if (!possible_results.contains(
                      model->predict_on_batch({predicted_inputs})[0].to_vector()))
                fail("weights of no moment");
            return;
          }
          for (int step = 0; step < kSteps; ++step) model->train_on_batch({x}, {y});
          has_ended = true;
        }) == kNoErrors);
  CHECK(model->predict_on_batch({predicted_inputs})[0].to_vector() ==
        reference_model->predict_on_batch({predicted_inputs})[0].to_vector());
}

TEST_CASE("compile is refused while another thread trains the model") {
  const auto model = small_model();
  const Tensor x = data(64), y = targets(x);
  const Dict compile_options{{"optimizer", "sgd"}, {"loss", "mse"}, {"metrics", List{"mae"}}};
  model->compile(compile_options);
  std::atomic<bool> is_training{false}, is_refused{false};
  /// A callback that lets the training wait until the call of the other thread was refused.
  struct WaitingCallback final : Callback {
    WaitingCallback(std::atomic<bool>& training_flag, std::atomic<bool>& refusal_flag)
        : is_training_(training_flag), is_refused_(refusal_flag) {}
    void on_train_batch_end(int64_t, const Logs&) override {
      is_training_ = true;
      while (!is_refused_) std::this_thread::yield();
    }
    std::atomic<bool>&is_training_, &is_refused_;
  };
  std::thread trainer([&] {
    const CallbackPtr waiting_callback = std::make_shared<WaitingCallback>(is_training, is_refused);
    model->fit({x}, {y}, {{"verbose", 0}, {"callbacks", Value(waiting_callback)}});
  });
  while (!is_training) std::this_thread::yield();
  CHECK_THROWS_WITH(model->compile(compile_options),
                    Catch::Contains("compile: another thread trains"));
  is_refused = true;
  trainer.join();
  model->compile(compile_options);
}

TEST_CASE("callers of a model that keeps states take turns") {
  const auto make_one = [] {
    set_random_seed(7);
    return Sequential::make(
        {layer("LSTM", {{"units", 3}, {"stateful", true}, {"batch_input_shape", List{4, 2, 3}}})});
  };
  const auto reference_model = make_one(), model = make_one();
  const Tensor x = SeedGenerator(2).normal({4, 2, 3});
  constexpr int kCalls = 20;
  std::multiset<std::vector<double>> expected;
  for (int i = 0; i < kThreads * kCalls; ++i)
    expected.insert(reference_model->predict_on_batch({x})[0].to_vector());
  std::vector<std::multiset<std::vector<double>>> got(kThreads);
  CHECK(on_threads(kThreads, [&](int number) {
          for (int i = 0; i < kCalls; ++i)
            got[static_cast<size_t>(number)].insert(model->predict_on_batch({x})[0].to_vector());
        }) == kNoErrors);
  std::multiset<std::vector<double>> all_results;
  for (const auto& results_of_thread : got)
    all_results.insert(results_of_thread.begin(), results_of_thread.end());
  CHECK(all_results == expected);
}

TEST_CASE("models share threads, each with callers of its own") {
  const auto first_model = small_model(), second_model = small_model("tanh", 3);
  const Tensor x = data(50);
  const auto expected_first = first_model->predict({x})[0].to_vector(),
             expected_second = second_model->predict({x})[0].to_vector();
  CHECK(on_threads(kThreads, [&](int number) {
          for (int i = 0; i < 100; ++i) {
            const auto got = (number % 2 ? second_model : first_model)->predict({x})[0].to_vector();
            if (got != (number % 2 ? expected_second : expected_first)) fail("other bits");
          }
        }) == kNoErrors);
}

TEST_CASE("a program has no more frames than callers, and calls allocate nothing for them") {
  const Variable w(SeedGenerator(1).normal({64, 64}));
  const Function f([&](const Tensors& in) { return Tensors{ops::tanh(ops::matmul(in[0], w))}; },
                   {.inference = true});
  const Tensor x = SeedGenerator(2).normal({32, 64});
  const auto predict_in_loop = [&](int) {
    Tensors outputs;
    for (int i = 0; i < 50; ++i) {
      outputs.clear();
      f.call({&x, 1}, outputs);
    }
  };
  CHECK(on_threads(kThreads, predict_in_loop) == kNoErrors);
  const uint64_t allocations_before = allocation_count();
  for (int round = 0; round < 20; ++round)
    CHECK(on_threads(kThreads, predict_in_loop) == kNoErrors);
  // At most kThreads calls run at once. Each of them needs memory for three results, and an arena
  // for intermediate values.
  CHECK(allocation_count() - allocations_before <= 4 * kThreads);
}
