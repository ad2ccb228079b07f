// Compiled programs on a device: variables, results, constants, scans, order of execution.
#include <atomic>
#include <chrono>
#include <thread>

#include "support.h"

namespace crescent::test {
namespace {

using Values = std::vector<double>;

Tensor twice(const Tensor& x) { return x * 2.0; }

}  // namespace

TEST_CASE("programs: inputs from anywhere") {
  const Function f([](const Tensors& in) { return Tensors{twice(in[0]) + in[1]}; });
  const Tensor on_host = consecutive_numbers({3}),
               moved_to_device = on_device(consecutive_numbers({3}, 10));
  CHECK(f({on_host, moved_to_device})[0].to_vector() == Values{10, 13, 16});
  CHECK(f({moved_to_device, on_host})[0].to_vector() == Values{20, 23, 26});
  const Tensor rows = on_device(consecutive_numbers({6}));
  CHECK(f({rows.view_rows(3, 3), rows.view_rows(0, 3)})[0].to_vector() == Values{6, 9, 12});
}

TEST_CASE("programs: results that somebody holds keep their values") {
  const Function f([](const Tensors& in) { return Tensors{twice(in[0])}; });
  Tensors held_tensors;
  for (int i = 0; i < 6; ++i) held_tensors.push_back(f({Tensor::full({4}, i)})[0]);
  for (int i = 0; i < 6; ++i) CHECK(held_tensors[size_t(i)].to_vector() == Values(4, 2.0 * i));
}

TEST_CASE("programs: an input as it is, a constant, twice the same as results") {
  const Tensor constant = consecutive_numbers({2}, 5);
  const Function f([&](const Tensors& in) {
    const Tensor y = in[0] + 1.0;
    return Tensors{in[0], constant, y, y, ops::reshape(y, {2, 1})};
  });
  const Tensors out = f({consecutive_numbers({2})});
  CHECK(out[0].to_vector() == Values{0, 1});
  CHECK(out[1].to_vector() == Values{5, 6});
  CHECK(out[2].to_vector() == Values{1, 2});
  CHECK(out[3].to_vector() == Values{1, 2});
  CHECK(out[4].shape() == Shape{2, 1});
  CHECK(out[4].to_vector() == Values{1, 2});
}

TEST_CASE("programs: variables change in place, what was taken from them does not") {
  const Variable v(consecutive_numbers({3}));
  const Function step([&](const Tensors& in) {
    const Tensor old_value = v.value();
    v.assign(old_value + in[0]);
    return Tensors{old_value};
  });
  const Tensor start = v.value();
  CHECK(step({Tensor(1.0)})[0].to_vector() == Values{0, 1, 2});
  const Tensor middle = v.value();
  step({Tensor(2.0)});
  CHECK(start.to_vector() == Values{0, 1, 2});
  CHECK(middle.to_vector() == Values{1, 2, 3});
  CHECK(v.value().to_vector() == Values{3, 4, 5});
  CHECK(v.value().storage()->memory() == device().memory());
}

TEST_CASE("programs: variables change places") {
  const Variable a(consecutive_numbers({2})), b(consecutive_numbers({2}, 10)),
      c(consecutive_numbers({2}, 20));
  const Function rotate([&](const Tensors&) {
    const Tensor x = a.value(), y = b.value(), z = c.value();
    a.assign(y), b.assign(z), c.assign(x);
    return Tensors{};
  });
  rotate({});
  CHECK(a.value().to_vector() == Values{10, 11});
  CHECK(b.value().to_vector() == Values{20, 21});
  CHECK(c.value().to_vector() == Values{0, 1});
}

TEST_CASE("programs: a variable that is assigned outside is read anew") {
  const Variable v(consecutive_numbers({2}));
  const Function f([&](const Tensors&) { return Tensors{ops::exp(v.value())}; },
                   OptimizeOptions{.inference = true});
  CHECK(f({})[0].to_vector()[0] == 1);
  v.assign(Tensor::full({2}, 1));
  CHECK(f({})[0].to_vector()[0] == Approx(2.718281828));
  Tensor filled(Shape{2}, DType::float32);
  float* values = filled.mutable_data<float>();
  v.assign(filled);
  values[0] = 3;
  CHECK(f({})[0].to_vector()[0] == 1);
}

TEST_CASE("programs: int64 counts exactly") {
  const int64_t large_integer = (int64_t{1} << 53) + 1;
  const Variable v(Tensor::from(std::vector<int64_t>{large_integer}, {1}));
  const Function step([&](const Tensors&) {
    v.assign_add(Tensor::from(std::vector<int64_t>{2}, {1}));
    return Tensors{};
  });
  step({});
  CHECK(v.value().data<int64_t>()[0] == large_integer + 2);
}

TEST_CASE("programs: scans") {
  for (bool reverse : {false, true}) {
    DYNAMIC_SECTION((reverse ? "backward" : "forward")) {
      const Tensor x = consecutive_numbers({4, 2}), w = consecutive_numbers({2}, 1);
      auto run = [&](const Tensors& in) {
        auto [states, outputs] = ops::scan(
            [&](const Tensors& s, const Tensors& step) {
              const Tensor next = s[0] * 0.5 + step[0] * in[1];
              return ops::ScanResult{{next}, {next + s[0]}};
            },
            {ops::zeros({2})}, {in[0]}, reverse);
        return Tensors{states[0], outputs[0]};
      };
      const Tensors expected = on_cpu([&] { return run({x, w}); });
      const Tensors eager = run({x, w}), compiled = Function(run)({x, w});
      for (size_t i = 0; i < 2; ++i) {
        CHECK(eager[i].to_vector() == expected[i].to_vector());
        CHECK(compiled[i].to_vector() == expected[i].to_vector());
      }
    }
  }
}

TEST_CASE("programs: the gradient of a scan") {
  auto gradient_of = [](const Tensors& in) {
    GradientTape tape;
    tape.watch(in[0]);
    tape.watch(in[1]);
    const Tensor last = ops::scan(
                            [&](const Tensors& s, const Tensors& step) {
                              return ops::ScanResult{{ops::tanh(s[0] + step[0] * in[1])}, {}};
                            },
                            {ops::zeros({3})}, {in[0]})
                            .states[0];
    return tape.gradient(ops::sum(last), in);
  };
  const Tensors in{numbers({5, 3}, 1), numbers({3}, 2)};
  const Tensors expected = on_cpu([&] { return gradient_of(in); });
  const Tensors compiled = Function(gradient_of)(in);
  for (size_t i = 0; i < 2; ++i) CHECK(difference(compiled[i], expected[i]) < 1e-6);
}

TEST_CASE("programs: a loop of steps allocates nothing") {
  const Variable v(consecutive_numbers({64}));
  const Tensor x = on_device(consecutive_numbers({64}));
  const Function step([&](const Tensors& in) {
    v.assign(v.value() * 0.9 + in[0]);
    return Tensors{ops::sum(v.value())};
  });
  Tensors out;
  const Tensors in{x};
  for (int i = 0; i < 5; ++i) step.call(in, out);
  device().synchronize();
  const uint64_t allocations_before = allocation_count();
  for (int i = 0; i < 20; ++i) step.call(in, out);
  CHECK(allocation_count() == allocations_before);
}

TEST_CASE("programs: many in a row keep their order") {
  const Variable v(Tensor(Shape{}, DType::float64));
  const Function add(
      [&](const Tensors& in) { return v.assign(v.value() * 2.0 + in[0]), Tensors{}; });
  double expected = 0;
  for (int i = 0; i < 30; ++i) {
    const double x = i % 3;
    add({Tensor::scalar(x, DType::float64)});
    expected = expected * 2 + x;
  }
  CHECK(v.value().item() == expected);
}

TEST_CASE("programs: threads share them") {
  const Function f([](const Tensors& in) { return Tensors{ops::matmul(in[0], in[0])}; });
  std::vector<std::thread> threads;
  std::atomic<int> right_count{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Tensor x = Tensor::full({8, 8}, t + 1);
      for (int i = 0; i < 20; ++i) {
        const double y = f({x})[0].to_vector()[5], z = ops::sum(x).item();
        if (y == 8.0 * (t + 1) * (t + 1) && z == 64.0 * (t + 1)) ++right_count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right_count == 80);
}

TEST_CASE("programs: a profile names what ran") {
  const Function f([](const Tensors& in) { return Tensors{ops::matmul(in[0], in[0])}; });
  const Tensors in{consecutive_numbers({16, 16})};
  const auto executable = f.executable(in);
  executable->profile(true);
  f(in), f(in);
  const std::vector<ProfileEntry> rows = executable->rows();
  executable->profile(false);
  const bool has_product = std::any_of(rows.begin(), rows.end(), [](const ProfileEntry& row) {
    return row.op.find("matmul") != std::string::npos && row.calls == 2;
  });
  CHECK(has_product);
}

TEST_CASE("programs: the host goes on while a device takes its time") {
  if (!device().get_config().contains("delay")) return;
  constexpr double kDelay = 0.5;
  set_device(device_under_test(), {{"delay", kDelay}});
  const Function f([](const Tensors& in) { return Tensors{ops::exp(in[0]) + 41.0}; });
  f({Tensor(1.0)})[0].item();  // compiles f, so that the next call only runs it
  const auto begin = std::chrono::steady_clock::now();
  const Tensor y = f({Tensor(0.0)})[0];
  const std::chrono::duration<double> waiting_time = std::chrono::steady_clock::now() - begin;
  set_device(device_under_test(), {{"delay", 0}});
  CHECK(waiting_time.count() < kDelay);
  CHECK(y.item() == 42);
}

}  // namespace crescent::test
