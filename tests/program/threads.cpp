// Eager ops, traces, gradient tapes and one shared function, used on several threads at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "crescent/layer/layer.h"
#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"

using namespace crescent;

namespace {

double slope_of_square(const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = ops::sum(ops::square(x));
  return tape.gradient(y, std::span(&x, 1))[0].to_vector()[0];
}

}  // namespace

TEST_CASE("threads work side by side") {
  const Function shared_function(
      [](const Tensors& in) { return Tensors{ops::matmul(in[0], in[0]) + 1.0}; });
  std::vector<int> wrong_counts(4, 0);
  std::vector<std::thread> threads;
  for (size_t id = 0; id < wrong_counts.size(); ++id) {
    threads.emplace_back([&, id] {
      const double v = static_cast<double>(id + 1);
      const Variable sum(Tensor::full({8}, 0));
      const Function step([&](const Tensors& in) {
        sum.assign_add(in[0]);
        return Tensors{ops::sum(sum.value())};
      });
      for (int i = 1; i <= 50; ++i) {
        const Tensor x = Tensor::full({4, 4}, v);
        const bool is_right = shared_function({x})[0].to_vector()[5] == 4 * v * v + 1 &&
                              slope_of_square(x) == 2 * v &&
                              step({Tensor::full({8}, v)})[0].item() == 8 * v * i;
        wrong_counts[id] += is_right ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong_counts == std::vector<int>(4, 0));
}

TEST_CASE("threads that draw from one generator get what one thread would get, each number once") {
  constexpr size_t kThreads = 4, kDraws = 300;
  auto draw = [](std::vector<double>& numbers) {
    for (size_t i = 0; i < kDraws; ++i)
      numbers.push_back(global_random().uniform({1}, 0, 1, DType::float64).item());
  };
  set_random_seed(5);
  std::vector<double> sequential_draws, parallel_draws;
  for (size_t id = 0; id < kThreads; ++id) draw(sequential_draws);
  const double seed_after = static_cast<double>(global_random().seed());
  set_random_seed(5);
  std::vector<std::vector<double>> draws_of_threads(kThreads);
  std::vector<std::thread> threads;
  for (auto& draws : draws_of_threads) threads.emplace_back([&] { draw(draws); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& draws : draws_of_threads)
    parallel_draws.insert(parallel_draws.end(), draws.begin(), draws.end());
  std::sort(sequential_draws.begin(), sequential_draws.end());
  std::sort(parallel_draws.begin(), parallel_draws.end());
  CHECK(parallel_draws == sequential_draws);
  CHECK(static_cast<double>(global_random().seed()) == seed_after);
}

TEST_CASE("a thread sees one policy or another while they are set") {
  const std::string old_policy_name = default_policy().name;
  bool is_consistent = true;
  std::thread reader([&] {
    for (int i = 0; i < 2000; ++i) {
      const DTypePolicy policy = default_policy(), expected = DTypePolicy::named(policy.name);
      is_consistent = is_consistent && policy.compute == expected.compute &&
                      policy.variables == expected.variables;
    }
  });
  for (int i = 0; i < 2000; ++i) set_default_policy(i % 2 ? "mixed_bfloat16" : "float64");
  reader.join();
  set_default_policy(old_policy_name);
  CHECK(is_consistent);
}
