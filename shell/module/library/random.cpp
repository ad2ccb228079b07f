// The functions of cr.random. They use the given generator or that of the process.
#include "crescent/ops/draws.h"

#include "classes/object_types.h"
#include "library/libraries.h"

namespace crescent::lua {
namespace {

using OptionalDType = std::optional<DType>;

class Generator final : public Object {
 public:
  explicit Generator(SeedGenerator generator) : seeds(std::move(generator)) {}
  std::string class_name() const override { return "SeedGenerator"; }
  SeedGenerator seeds;
};

/// The parameter `seed`: an integer or a SeedGenerator. Without it, the generator of the process
/// draws.
struct Seed {
  std::shared_ptr<Generator> generator{};
};

const SeedGenerator& generator_of(const std::optional<Seed>& seed) {
  return seed ? seed->generator->seeds : global_random();
}

}  // namespace

template <>
struct Read<Seed> : ReadBase<Seed> {
  static Seed from(lua_State* L, int index) {
    if (!lua_isinteger(L, index)) return {Read<std::shared_ptr<Generator>>::from(L, index)};
    return {std::make_shared<Generator>(SeedGenerator::repeating(lua_tointeger(L, index)))};
  }
};

namespace {

Tensor normal(const NewShape& shape, double mean, double stddev, OptionalDType dtype,
              const std::optional<Seed>& seed) {
  return generator_of(seed).normal(shape, mean, stddev, dtype.value_or(floatx()));
}
Tensor uniform(const NewShape& shape, double low, double high, OptionalDType dtype,
               const std::optional<Seed>& seed) {
  return generator_of(seed).uniform(shape, low, high, dtype.value_or(floatx()));
}
Tensor truncated_normal(const NewShape& shape, double mean, double stddev, OptionalDType dtype,
                        const std::optional<Seed>& seed) {
  return generator_of(seed).truncated_normal(shape, mean, stddev, dtype.value_or(floatx()));
}
/// Draws integers n with low <= n < high.
Tensor randint(const NewShape& shape, int64_t low, int64_t high, DType dtype,
               const std::optional<Seed>& seed) {
  return ops::randint(shape, low, high, dtype, generator_of(seed));
}
/// The integers 0 to n-1 in random order, for cr.ops.take.
Tensor permutation(int64_t n, const std::optional<Seed>& seed) {
  return ops::permutation(n, generator_of(seed));
}
/// A copy of the tensor in which the slices along an axis are in random order.
Tensor shuffle(const Tensor& x, int axis, const std::optional<Seed>& seed) {
  return ops::shuffle(x, axis, generator_of(seed));
}

}  // namespace

const std::vector<CallablePtr>& random_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    auto add = [&](CallablePtr f) { callables.push_back(std::move(f)); };
    add(bound("seed", &set_random_seed, {"seed"},
              "Seeds the global generator; models built afterwards get the same weights every "
              "time. Lua's "
              "math.random has a state of its own, which math.randomseed(n) sets and no snapshot "
              "keeps."));
    add(bound(
        "normal", &normal,
        {"shape", "mean=0.0", "stddev=1.0", "dtype=nil", "seed: an integer or a SeedGenerator=nil"},
        "Samples of the normal distribution."));
    add(bound("uniform", &uniform,
              {"shape", "minval=0.0", "maxval=1.0", "dtype=nil",
               "seed: an integer or a SeedGenerator=nil"},
              "Samples of the uniform distribution from minval to below maxval."));
    add(bound(
        "truncated_normal", &truncated_normal,
        {"shape", "mean=0.0", "stddev=1.0", "dtype=nil", "seed: an integer or a SeedGenerator=nil"},
        "Samples of the normal distribution, redrawn if more than two standard deviations "
        "from the mean."));
    add(bound(
        "randint", &randint,
        {"shape", "minval", "maxval", "dtype=int32", "seed: an integer or a SeedGenerator=nil"},
        "Random integers from minval to maxval - 1."));
    add(bound("permutation", &permutation, {"n", "seed: an integer or a SeedGenerator=nil"},
              "A random permutation of the integers from 0 to n - 1."));
    add(bound("shuffle", &shuffle, {"x", "axis=0", "seed: an integer or a SeedGenerator=nil"},
              "Shuffles a tensor along an axis."));
    add(bound(
        "SeedGenerator -> a SeedGenerator",
        [](std::optional<int64_t> seed) {
          return std::make_shared<Generator>(SeedGenerator(seed));
        },
        {"seed=nil"}, "A random generator with a state of its own."));
    return callables;
  }();
  return functions;
}

void add_random_types(ObjectTypes& types, const HandleType& object) {
  add_type<Generator>(types, "SeedGenerator", &object)
      .method(
          "normal",
          [](Generator& g, const NewShape& shape, double mean, double stddev) {
            return g.seeds.normal(shape, mean, stddev);
          },
          {"shape", "mean=0.0", "stddev=1.0"}, "Samples of the normal distribution.")
      .method(
          "uniform",
          [](Generator& g, const NewShape& shape, double low, double high) {
            return g.seeds.uniform(shape, low, high);
          },
          {"shape", "minval=0.0", "maxval=1.0"},
          "Samples of the uniform distribution from minval to below maxval.")
      .method(
          "permutation", [](Generator& g, int64_t n) { return ops::permutation(n, g.seeds); },
          {"n"}, "A random permutation of the integers from 0 to n - 1.")
      .property(
          "state", [](Generator& g) { return g.seeds.state(); },
          "The state that determines the next numbers.");
}

}  // namespace crescent::lua
