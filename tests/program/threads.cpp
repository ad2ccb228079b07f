// Eager ops, traces, tapes and one shared function on several threads at once.
#include <catch2/catch.hpp>
#include <thread>

#include "crescent/gradient.h"
#include "crescent/ops.h"
#include "crescent/program.h"

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
  const Function shared([](const Tensors& in) { return Tensors{ops::matmul(in[0], in[0]) + 1.0}; });
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (size_t id = 0; id < wrong.size(); ++id) {
    threads.emplace_back([&, id] {
      const double v = static_cast<double>(id + 1);
      const Variable own(Tensor::full({8}, 0));
      const Function step([&](const Tensors& in) {
        own.assign_add(in[0]);
        return Tensors{ops::sum(own.value())};
      });
      for (int i = 1; i <= 50; ++i) {
        const Tensor x = Tensor::full({4, 4}, v);
        const bool right = shared({x})[0].to_vector()[5] == 4 * v * v + 1 && slope_of_square(x) == 2 * v &&
                           step({Tensor::full({8}, v)})[0].item() == 8 * v * i;
        wrong[id] += right ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}
