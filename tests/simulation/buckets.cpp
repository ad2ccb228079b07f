// Sums of gradients in buckets: the same for every size of buckets and any number of ranks. The
// gradients are whole numbers, whose sums are exact in every order.
#include <catch2/catch.hpp>
#include <random>

#include "communicator.h"
#include "device/communicator_scope.h"
#include "training/sharing/shared_step.h"

using namespace crescent;
using namespace crescent::simulation;

namespace {

constexpr int kSizes = 4;  ///< numbers of ranks

/// Gradients of variables, some of which have none, and the sizes of buckets.
struct Gradients {
  explicit Gradients(int64_t seed) : generator(static_cast<uint64_t>(seed)) {
    for (int64_t count = random_integer(0, 12); count > 0; --count) {
      const DType dtype = random_integer(0, 3) == 0 ? DType::float64 : DType::float32;
      variables.emplace_back(ops::zeros(shape(), dtype));
      has_none.push_back(random_integer(0, 5) == 0);
    }
    sizes.small_gradient = random_limit(), sizes.bucket_size = random_limit();
  }
  int64_t random_integer(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(generator() % static_cast<uint64_t>(last - first + 1));
  }
  Shape shape() {
    const int64_t axes = random_integer(0, 2);
    return axes == 0   ? Shape()
           : axes == 1 ? Shape{random_integer(0, 9)}
                       : Shape{random_integer(0, 9), random_integer(1, 9)};
  }
  /// A limit for the elements of a bucket: 0, about as many as a gradient has, or more than all
  /// gradients have together.
  int64_t random_limit() {
    return random_integer(0, 4) == 0 ? int64_t{1} << 40 : random_integer(0, 90);
  }

  /// The gradients of a rank.
  Tensors gradients_of(int rank) const {
    Tensors values;
    for (size_t i = 0; i < variables.size(); ++i) {
      const Shape& shape = variables[i].shape();
      const Tensor ramp = ops::reshape(ops::arange(shape.size(), DType::float64), shape);
      values.push_back(has_none[i] ? Tensor()
                                   : ops::cast(ramp * (rank + 1.0) - static_cast<double>(i),
                                               variables[i].dtype()));
    }
    return values;
  }

  std::mt19937_64 generator;
  Variables variables;
  std::vector<bool> has_none;
  BucketSizes sizes;
};

Tensors sums_in_one_program(const Gradients& gradients, int rank) {
  Tensors inputs, values = gradients.gradients_of(rank);
  for (const Tensor& value : values)
    if (value) inputs.push_back(value);
  const Function sum([&](const Tensors& in) {
    Tensors exchanged = values, sums;
    for (size_t i = 0, next = 0; i < exchanged.size(); ++i)
      if (exchanged[i]) exchanged[i] = in[next++];
    sum_over_processes(exchanged, gradients.variables, gradients.sizes);
    for (const Tensor& gradient : exchanged)
      if (gradient) sums.push_back(gradient);
    return sums;
  });
  return sum(inputs);
}

}  // namespace

TEST_CASE("buckets of every size give the sums of single gradients") {
  set_device("cpu", {{"threads", 1}, {"overlap", false}});
  for (int64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const Gradients gradients(seed);
    const int size = 1 + static_cast<int>(seed % kSizes);
    std::vector<Tensors> sums(static_cast<size_t>(size));
    Disk disk("/tmp/crescent_buckets");
    const auto outcomes = Cluster(size, 1, {}, disk).run([&](int rank) {
      const CommunicatorScope scope(
          std::make_shared<SimulatedCommunicator>(*Cluster::current(), rank));
      sums[static_cast<size_t>(rank)] = sums_in_one_program(gradients, rank);
    });
    for (const Outcome& outcome : outcomes) REQUIRE(outcome == Outcome{});
    Tensors expected;
    for (size_t i = 0; i < gradients.variables.size(); ++i) {
      if (gradients.has_none[i]) continue;
      Tensor sum = gradients.gradients_of(0)[i];
      for (int rank = 1; rank < size; ++rank) sum = sum + gradients.gradients_of(rank)[i];
      expected.push_back(sum);
    }
    for (const Tensors& sums_of_rank : sums) {
      REQUIRE(sums_of_rank.size() == expected.size());
      for (size_t i = 0; i < sums_of_rank.size(); ++i) {
        REQUIRE(sums_of_rank[i].spec() == expected[i].spec());
        REQUIRE(sums_of_rank[i].to_vector() == expected[i].to_vector());
      }
    }
  }
}
