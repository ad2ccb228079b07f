// Overlap: exchanges with other processes run while later steps compute. A program sums gradients
// over the processes after the whole backward pass; each sum moves to where its gradient is ready,
// and so do steps whose results only exchanges read, such as the concatenation of small gradients.
//
//   g1 = product(...)                  g1 = product(...)
//   g2 = product(...)                  all_reduce(g1)       is overlapped
//   all_reduce(g1)             ->      g2 = product(...)
//   all_reduce(g2)                     all_reduce(g2)       awaits exchanges
//   update(g1)                         update(g1)
//
// Exchanges keep their order, because it must be the same in all processes. All overlapped
// exchanges are awaited by the first step that reads a result of one of them: it may write
// variables, which must not change if an exchange fails.
#include <algorithm>
#include <numeric>

#include "crescent/program/shard_ops.h"
#include "executor/readers.h"

namespace crescent::cpu {
namespace {

/// An exchange runs at the same time as other steps only if these read and write at least this many
/// bytes. For fewer, the thread for the exchange costs more than it saves.
constexpr size_t kMinOverlappedBytes = size_t{256} << 10;

bool is_exchange(const Step& step) {
  return step.op && (step.op->name() == AllReduce::kName || step.op->name() == ShardReduce::kName);
}

bool is_ordered(const Step& step) { return step.op && step.op->effect() == Effect::ordered; }

bool is_check(const Step& step) {
  return step.kernel->may_fail() || (step.op && step.op->effect() == Effect::check);
}

class ExchangeOverlapper {
 public:
  explicit ExchangeOverlapper(Schedule& schedule) : schedule_(schedule), readers_(schedule) {}

  void run() {
    if (std::none_of(steps().begin(), steps().end(), is_exchange)) return;
    find_moves();
    move_up();
    find_overlapped();
  }

 private:
  std::vector<Step>& steps() { return schedule_.steps; }
  size_t root(int value) const { return static_cast<size_t>(schedule_.root(value)); }

  /// Finds the steps that may move: exchanges, and steps without effects whose results are read
  /// only by steps that may move.
  void find_moves() {
    std::vector<bool> is_kept(schedule_.values.size());
    for (int value : schedule_.outputs) is_kept[root(value)] = true;
    for (const Schedule::Binding& v : schedule_.variables)
      if (v.result >= 0) is_kept[root(v.result)] = true;
    may_move_.resize(steps().size());
    for (size_t s = steps().size(); s-- > schedule_.prepack_steps;)
      may_move_[s] = is_exchange(steps()[s]) || only_moving_steps_read(steps()[s], is_kept);
  }
  bool only_moving_steps_read(const Step& step, const std::vector<bool>& is_kept) const {
    if (is_check(step) || (step.op && step.op->effect() != Effect::none)) return false;
    return std::all_of(step.outputs.begin(), step.outputs.end(), [&](int value) {
      const std::vector<size_t>& readers = readers_.of(value);
      return !is_kept[root(value)] && !readers.empty() &&
             std::all_of(readers.begin(), readers.end(), [&](size_t s) { return may_move_[s]; });
    });
  }

  /// Moves the steps that find_moves() found as far forward as possible: a step still comes after
  /// the steps that compute its inputs and after the checks that came before it, an exchange also
  /// after the previous step whose effect must keep its order (Effect::ordered).
  void move_up() {
    std::vector<size_t> new_position(steps().size()), producer_position(schedule_.values.size(), 0);
    size_t last_check_position = schedule_.prepack_steps, last_ordered_position = 0;
    for (size_t s = 0; s < steps().size(); ++s) {
      const Step& step = steps()[s];
      new_position[s] = s;
      if (may_move_[s]) {
        new_position[s] = is_exchange(step) ? std::max(last_check_position, last_ordered_position)
                                            : last_check_position;
        for (int value : step.inputs)
          new_position[s] = std::max(new_position[s], producer_position[root(value)]);
      }
      for (int value : step.outputs) producer_position[root(value)] = new_position[s];
      if (is_check(step)) last_check_position = new_position[s];
      if (is_ordered(step)) last_ordered_position = new_position[s];
    }
    std::vector<size_t> order(steps().size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return new_position[a] < new_position[b]; });
    std::vector<Step> reordered_steps;
    for (size_t s : order) reordered_steps.push_back(std::move(steps()[s]));
    steps() = std::move(reordered_steps);
  }

  /// Collects exchanges up to the first step that reads a result of one of them, or that has
  /// another effect outside of the program.
  void find_overlapped() {
    std::vector<bool> is_exchanged(schedule_.values.size());
    std::vector<size_t> exchange_steps;
    for (size_t s = 0; s < steps().size(); ++s) {
      const Step& step = steps()[s];
      const bool reads_exchanged =
          std::any_of(step.inputs.begin(), step.inputs.end(),
                      [&](int value) { return is_exchanged[root(value)]; });
      if (reads_exchanged || (is_ordered(step) && !is_exchange(step))) {
        overlap(exchange_steps, s);
        for (size_t e : std::exchange(exchange_steps, {}))
          for (int value : steps()[e].outputs) is_exchanged[root(value)] = false;
      }
      if (!is_exchange(step)) continue;
      exchange_steps.push_back(s);
      for (int value : step.outputs) is_exchanged[root(value)] = true;
    }
  }

  /// Overlaps the exchanges with the steps before step `end`, except the last exchanges if there is
  /// little work between them and `end`.
  void overlap(std::vector<size_t> exchange_steps, size_t end) {
    size_t bytes = 0, s = end;
    while (!exchange_steps.empty()) {
      while (--s > exchange_steps.back()) bytes += bytes_of(steps()[s]);
      if (bytes >= kMinOverlappedBytes) break;
      end = s;
      exchange_steps.pop_back();
    }
    for (size_t e : exchange_steps) steps()[e].is_overlapped = true;
    if (!exchange_steps.empty()) steps()[end].awaits_exchanges = true;
  }
  size_t bytes_of(const Step& step) const {
    size_t bytes = 0;
    for (int value : step.inputs) bytes += schedule_.bytes(value);
    for (int value : step.outputs) bytes += schedule_.bytes(value);
    return bytes;
  }

  Schedule& schedule_;
  const Readers readers_;       ///< the readers of each value before steps are moved
  std::vector<bool> may_move_;  ///< for each step before steps are moved, whether it may move
};

}  // namespace

void overlap_exchanges(Schedule& schedule) { ExchangeOverlapper(schedule).run(); }

}  // namespace crescent::cpu
