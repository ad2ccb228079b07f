// SeedGenerator: a variable with (seed, counter); every draw is a Random op and increments the
// counter.
#include "crescent/ops/random.h"

#include <mutex>
#include <numeric>

#include "program/recording/recorder.h"
#include "random/random_scope.h"
#include "random/row_draws.h"
#include "random/seeding.h"
#include "tensor/memory.h"

namespace crescent {
namespace {

Tensor initial_state(int64_t seed) { return Tensor::from(std::vector<int64_t>{seed, 0}, {2}); }

Variable make_state(int64_t seed) {
  Variable::Options options;
  options.name = "seed_generator_state";
  options.trainable = false;
  return Variable(initial_state(seed), std::move(options));
}

std::mutex& draw_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Returns the state after a draw. For a state in host memory, it is computed here and not by an
/// op, because an op would start the device. Models may draw seeds before they compute anything
/// else, and starting the device takes time.
Tensor next_state(const Tensor& state) {
  if (state.is_abstract() || state.storage()->memory())
    return ops::add(state, Tensor::from(std::vector<int64_t>{0, 1}, {2}));
  const int64_t* words = state.data<int64_t>();
  const auto counter = static_cast<int64_t>(static_cast<uint64_t>(words[1]) + 1);
  return Tensor::from(std::vector<int64_t>{words[0], counter}, {2});
}

}  // namespace

/// Returns the state for one draw and advances the variable to the next state. Threads that draw at
/// the same time get different states.
Tensor SeedGenerator::take_state() const {
  if (repeated_seed_) return initial_state(*repeated_seed_);
  if (const RandomScope* scope = RandomScope::current())
    if (Tensor scope_state = scope->state_for(state_)) return scope_state;
  const std::lock_guard lock(draw_mutex());
  const Tensor state_value = state_.value();
  state_.assign(next_state(state_value));
  return state_value;
}

SeedGenerator::SeedGenerator(std::optional<int64_t> seed)
    : state_(make_state(seed ? *seed : global_random().seed())) {}

SeedGenerator SeedGenerator::repeating(int64_t seed) {
  SeedGenerator generator(seed);
  generator.repeated_seed_ = seed;
  return generator;
}

int64_t SeedGenerator::seed() const {
  NoTrace no_trace;
  const Tensor state = take_state();
  const int64_t* words = state.data<int64_t>();
  const PhiloxBlock block =
      philox(static_cast<uint64_t>(words[0]), static_cast<uint64_t>(words[1]), 0);
  return static_cast<int64_t>((uint64_t{block.word[0]} << 32 | block.word[1]) >> 1);
}

Tensor SeedGenerator::draw(RandomKind kind, const Shape& shape, double a, double b,
                           DType dtype) const {
  return RowDraws::draw_rows(shape, [&](const Shape& whole_shape) {
    Random op;
    op.kind = kind, op.shape = whole_shape, op.dtype = dtype, op.a = a, op.b = b;
    return apply1(op, {take_state()});
  });
}

std::optional<SeedGenerator::DrawState> SeedGenerator::draw_state(const Shape& shape) const {
  return RowDraws::state(shape, [&] { return take_state(); });
}

Tensor SeedGenerator::uniform(const Shape& shape, double low, double high, DType dtype) const {
  return draw(RandomKind::uniform, shape, low, high, dtype);
}

Tensor SeedGenerator::normal(const Shape& shape, double mean, double stddev, DType dtype) const {
  return draw(RandomKind::normal, shape, mean, stddev, dtype);
}

Tensor SeedGenerator::truncated_normal(const Shape& shape, double mean, double stddev,
                                       DType dtype) const {
  return draw(RandomKind::truncated_normal, shape, mean, stddev, dtype);
}

/// A Fisher-Yates shuffle that uses the random 32-bit words of one draw. A word is mapped to an
/// index by multiplication, which has a bias of at most n / 2^32.
std::vector<int64_t> SeedGenerator::permutation(int64_t n) const {
  if (n < 0 || n > int64_t{1} << 32) fail("permutation: cannot order ", n, " numbers");
  expect_memory(n * sizeof(int64_t));
  NoTrace no_trace;
  const Tensor state = take_state();
  const int64_t* words = state.data<int64_t>();
  const uint64_t seed = static_cast<uint64_t>(words[0]), counter = static_cast<uint64_t>(words[1]);
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  PhiloxBlock block{};
  for (int64_t i = n - 1, word_index = 0; i > 0; --i, ++word_index) {
    if (word_index % 4 == 0) block = philox(seed, counter, static_cast<uint64_t>(word_index / 4));
    const uint64_t word = block.word[word_index % 4];
    std::swap(order[i], order[word * static_cast<uint64_t>(i + 1) >> 32]);
  }
  return order;
}

namespace {
thread_local RandomScope* innermost_scope = nullptr;
int64_t last_seed = 0;  // guarded by draw_mutex()
}  // namespace

SeedGenerator& global_random() {
  static SeedGenerator generator(0);
  return innermost_scope ? innermost_scope->generator() : generator;
}

RandomScope::RandomScope(int64_t seed, ReplacedGenerators replaced_generators)
    : generator_(seed),
      replaced_generators_(replaced_generators),
      outer_scope_(std::exchange(innermost_scope, this)) {}
RandomScope::~RandomScope() { innermost_scope = outer_scope_; }
RandomScope* RandomScope::current() { return innermost_scope; }

Tensor RandomScope::state_for(const Variable& state) const {
  if (replaced_generators_ == ReplacedGenerators::global || state == generator_.state()) return {};
  const Tensor other_state = state.value();
  if (other_state.is_abstract()) return {};
  return Tensor::from(std::vector<int64_t>{*other_state.data<int64_t>(), generator_.seed()}, {2});
}

void set_random_seed(int64_t seed) {
  NoTrace no_trace;
  const std::lock_guard lock(draw_mutex());
  global_random().state().assign(Tensor::from(std::vector<int64_t>{seed, 0}, {2}));
  last_seed = seed;
}

int64_t last_random_seed() {
  const std::lock_guard lock(draw_mutex());
  return last_seed;
}

}  // namespace crescent
