// The exchange of gradients with other processes while later steps compute: results have the same
// bits as without overlap, exchanges happen in the same order, and a run that fails changes no
// variable.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "crescent/ops/ops.h"
#include "crescent/program/activity.h"
#include "crescent/program/communicator.h"
#include "crescent/program/program.h"
#include "crescent/program/shard_ops.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu::test;
using cpu::CpuDevice;

namespace {

/// A communicator for two processes, of which only this one exists: it acts as if the other process
/// had the same values. An exchange takes some time, and expects that nobody else writes its values
/// meanwhile.
class TwinCommunicator final : public Communicator {
 public:
  static void describe(Schema<TwinCommunicator>& s) {
    s.doc("Two processes with the same values.");
  }
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) override {
    const size_t bytes = count * size_of(dtype);
    const auto* begin = static_cast<const std::byte*>(data);
    const std::vector<std::byte> bytes_before(begin, begin + bytes);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    CHECK(std::equal(bytes_before.begin(), bytes_before.end(), begin));
    element_counts.push_back(count);
    instructions.push_back(running_instruction());
    if (std::this_thread::get_id() != main_thread) ++overlapped_count;
    if (static_cast<int>(element_counts.size()) == failing_exchange)
      fail("the process of rank 1 has ended");
    REQUIRE((kind == ReduceKind::sum && dtype == DType::float32));
    for (size_t i = 0; i < count; ++i) static_cast<float*>(data)[i] *= 2;
  }
  void broadcast(void*, size_t, int) override {}
  void leave(const std::string&) noexcept override {}

  int64_t microseconds = 0;               ///< microseconds that an exchange takes
  int failing_exchange = -1;              ///< number of the exchange that fails, counted from 1
  std::vector<size_t> element_counts;     ///< the number of elements of each exchange
  std::vector<std::string> instructions;  ///< the text that each exchange adds to the profile
  std::atomic<int> overlapped_count = 0;  ///< the number of exchanges on another thread
  std::thread::id main_thread = std::this_thread::get_id();
};

/// While an object of this class exists, the process computes with a TwinCommunicator.
class TwinCommunicatorScope {
 public:
  TwinCommunicatorScope() {
    set_communicator(twin_communicator);
    set_activity_tracking(true);
  }
  ~TwinCommunicatorScope() {
    set_activity_tracking(false);
    set_communicator(nullptr);
  }
  TwinCommunicatorScope(const TwinCommunicatorScope&) = delete;
  const std::shared_ptr<TwinCommunicator> twin_communicator = std::make_shared<TwinCommunicator>();
};

CpuDevice& device_with(bool has_exchange_overlap) {
  static const bool is_registered = (registry().add<CpuDevice>("cpu_of_twins"), true);
  CHECK(is_registered);
  static const auto make_device = [](bool has_overlap) {
    return std::dynamic_pointer_cast<CpuDevice>(
        make<Device>("cpu_of_twins", {{"overlap", has_overlap}, {"threads", 2}}));
  };
  static const auto overlapping = make_device(true), not_overlapping = make_device(false);
  return has_exchange_overlap ? *overlapping : *not_overlapping;
}

/// Steps as in training: a chain of layers, gradients from the last layer to the first, their sums
/// over the processes in buckets, and an update of the variables.
struct Network {
  explicit Network(int64_t seed) : generator(static_cast<uint64_t>(seed)) {
    rows = random_integer(1, 500), layer_count = random_integer(1, 6),
    max_joined_elements = random_choice({0, 500, 1 << 20});
    reads_own_gradients = random_integer(0, 1) == 1;
    for (int64_t i = 0; i <= layer_count; ++i) widths.push_back(random_integer(1, 140));
  }
  int64_t random_integer(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(generator() % static_cast<uint64_t>(last - first + 1));
  }
  int64_t random_choice(std::initializer_list<int64_t> list) {
    return list.begin()[random_integer(0, static_cast<int64_t>(list.size()) - 1)];
  }

  std::mt19937_64 generator;
  int64_t rows, layer_count;
  int64_t max_joined_elements;  ///< gradients of at most so many elements are summed as one tensor
  bool reads_own_gradients;     ///< whether steps read the gradients of this process, too
  std::vector<int64_t> widths;

  /// The weights, and an average of outputs; the update of the average needs no sum over processes.
  Variables variables() const {
    Variables variables;
    for (int64_t i = 0; i < layer_count; ++i)
      variables.emplace_back(sines({widths[i], widths[i + 1]}, static_cast<double>(i)) * 0.2);
    variables.emplace_back(ops::zeros({rows, widths.back()}));
    return variables;
  }
  Tensor input() const { return sines({rows, widths.front()}, 3); }

  Tensors step(const Tensor& x, const Variables& all_variables) const {
    const Variables w(all_variables.begin(), all_variables.end() - 1);
    const Variable& average = all_variables.back();
    Tensors activations{x};
    for (const Variable& weight : w)
      activations.push_back(ops::tanh(ops::matmul(activations.back(), weight)));
    const Tensor total_output = ops::all_reduce(ops::sum(activations.back()));
    Tensor error = activations.back() + 1e-3 * total_output;
    Tensors gradients(w.size()), flat_gradients;
    Tensor own_sum = Tensor(1.0);
    std::vector<int64_t> flat_sizes;
    for (size_t i = w.size(); i-- > 0;) {
      error = error * (1.0 - ops::square(activations[i + 1]));
      gradients[i] = ops::matmul(activations[i], error, true);
      error = ops::matmul(error, w[i], false, true);
      if (!reads_own_gradients) continue;
      own_sum = own_sum + ops::sum(ops::abs(gradients[i]));
      const Tensor tanh_of_gradient = ops::tanh(gradients[i]);
      own_sum = own_sum + ops::mean(ops::matmul(tanh_of_gradient, tanh_of_gradient, true));
    }
    for (size_t i = w.size(); i-- > 0;) {
      if (gradients[i].size() > max_joined_elements) {
        gradients[i] = ops::all_reduce(gradients[i]);
      } else {
        flat_gradients.push_back(ops::reshape(gradients[i], {-1}));
        flat_sizes.push_back(flat_gradients.back().size());
      }
    }
    if (!flat_gradients.empty()) {
      const Tensors sums =
          ops::split(ops::all_reduce(ops::concatenate(flat_gradients, 0)), flat_sizes, 0);
      for (size_t i = w.size(), k = 0; i-- > 0;)
        if (gradients[i].size() <= max_joined_elements)
          gradients[i] = ops::reshape(sums[k++], w[i].shape());
    }
    average.assign(average.value() * 0.9 + activations.back());
    for (size_t i = 0; i < w.size(); ++i) w[i].assign_sub(gradients[i] * 0.01);
    return {ops::sum(gradients.front()), total_output, own_sum, ops::mean(error)};
  }
};

/// The results of steps of a network, and its variables after them.
struct TrainingResult {
  Tensors results, variables;
  std::string error;
  std::vector<size_t> element_counts;
  int overlapped_count = 0;
};

TrainingResult train(const Network& network, bool overlap, int64_t microseconds, int steps,
                     int failing_exchange = -1) {
  const TwinCommunicatorScope twins_scope;
  twins_scope.twin_communicator->microseconds = microseconds,
  twins_scope.twin_communicator->failing_exchange = failing_exchange;
  const Variables network_variables = network.variables();
  Device& device = device_with(overlap);
  const Program program =
      optimize(trace([&](const Tensors& in) { return network.step(in[0], network_variables); },
                     TensorSpecs{network.input().spec()}),
               {.device = &device});
  const auto executable = compile(program, device);
  TrainingResult result;
  Tensors inputs{network.input()}, variables;
  for (const Program::Binding& b : program.variables)
    variables.push_back(b.variable.value().clone(nullptr));
  try {
    for (int i = 0; i < steps; ++i) {
      result.results = outputs_of(program);
      executable->run(inputs, variables, result.results);
    }
  } catch (const Error& error) {
    result.error = error.what();
  }
  result.variables = variables;
  result.element_counts = twins_scope.twin_communicator->element_counts;
  result.overlapped_count = twins_scope.twin_communicator->overlapped_count;
  for (const std::string& instruction : twins_scope.twin_communicator->instructions)
    CHECK(instruction.find("all_reduce_sum") == 0);
  return result;
}

void expect_same(const Tensors& a, const Tensors& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) REQUIRE(are_same(a[i], b[i]));
}

}  // namespace

TEST_CASE("overlapped exchanges give the bits of exchanges in between, in the same order") {
  int overlapped_count = 0, other_count = 0;
  for (int64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    const Network network(seed);
    const TrainingResult without_overlap = train(network, false, 0, 3);
    CHECK(without_overlap.overlapped_count == 0);
    for (const int64_t microseconds : {0, 300}) {
      const TrainingResult with_overlap = train(network, true, microseconds, 3);
      expect_same(with_overlap.results, without_overlap.results);
      expect_same(with_overlap.variables, without_overlap.variables);
      REQUIRE(with_overlap.element_counts == without_overlap.element_counts);
      ++(with_overlap.overlapped_count > 0 ? overlapped_count : other_count);
    }
  }
  CHECK(overlapped_count > 50);
  CHECK(other_count > 50);
}

TEST_CASE("an exchange that fails ends the step, which has changed no variable") {
  for (int64_t seed = 1; seed <= 60; ++seed) {
    const Network network(seed);
    const TrainingResult trained_once = train(network, true, 0, 1);
    for (size_t failing_exchange = 1; failing_exchange <= trained_once.element_counts.size();
         ++failing_exchange) {
      INFO("seed " << seed << ", exchange " << failing_exchange);
      const TrainingResult failed_run =
          train(network, true, 100, 2,
                static_cast<int>(trained_once.element_counts.size() + failing_exchange));
      CHECK(failed_run.error.find("the process of rank 1 has ended") != failed_run.error.npos);
      expect_same(failed_run.variables, trained_once.variables);
      CHECK(failed_run.element_counts.size() ==
            trained_once.element_counts.size() + failing_exchange);
    }
  }
}

TEST_CASE("a profile and a watcher see exchanges where they stand") {
  const TwinCommunicatorScope twins_scope;
  Network network(1);
  network.rows = 250, network.widths = {100, 120, 130}, network.layer_count = 2,
  network.max_joined_elements = 0;
  const Variables network_variables = network.variables();
  Device& device = device_with(true);
  const Program program =
      optimize(trace([&](const Tensors& in) { return network.step(in[0], network_variables); },
                     TensorSpecs{network.input().spec()}),
               {.device = &device});
  const auto executable = compile(program, device);
  Tensors inputs{network.input()}, variables, outputs = outputs_of(program);
  for (const Program::Binding& b : program.variables)
    variables.push_back(b.variable.value().clone(nullptr));
  executable->run(inputs, variables, outputs);
  CHECK(twins_scope.twin_communicator->overlapped_count > 0);
  twins_scope.twin_communicator->overlapped_count = 0;
  twins_scope.twin_communicator->microseconds = 2000;
  executable->profile(true);
  executable->run(inputs, variables, outputs);
  CHECK(twins_scope.twin_communicator->overlapped_count == 0);
  for (const ProfileEntry& row : executable->rows())
    if (row.op == "all_reduce_sum") CHECK(row.seconds > 1e-3);
}
