// Joins steps: where only reductions read the result of an elementwise step, they compute it block
// by block, and it never goes to memory.
#include <algorithm>

#include "executor/readers.h"
#include "executor/schedule.h"
#include "reduction/reduction.h"

namespace crescent::cpu {
namespace {

/// Elementwise steps and the reductions that read their results.
class Reductions {
 public:
  explicit Reductions(Schedule& schedule)
      : schedule_(schedule),
        readers_of_(schedule),
        is_new_value_(schedule.values.size()),
        is_kept_(schedule.values.size()) {
    for (const Schedule::Binding& v : schedule.variables)
      if (v.result >= 0) is_new_value_[root(v.result)] = is_kept_[root(v.result)] = true;
    for (int value : schedule.outputs) is_kept_[root(value)] = true;
  }

  void join() {
    for (size_t s = schedule_.prepack_steps; s < schedule_.steps.size(); ++s) join(s);
    drop_joined(schedule_);
  }

 private:
  struct Reader {
    size_t step;
    int output;  ///< output of the elementwise step
  };

  Step& step(size_t s) { return schedule_.steps[s]; }
  ReduceKernel* reduction(size_t s) { return dynamic_cast<ReduceKernel*>(step(s).kernel.get()); }
  size_t root(int value) const { return static_cast<size_t>(schedule_.root(value)); }

  /// Joins the elementwise step and its readers into one step at its position, if they can be
  /// joined.
  void join(size_t producer) {
    if (!dynamic_cast<Elementwise*>(step(producer).kernel.get()) || !find_readers(producer)) return;
    auto* first = reduction(readers_[0].step);
    for (size_t r = 1; r < readers_.size(); ++r)
      if (!first->may_join(*reduction(readers_[r].step))) return;
    if (readers_.size() > ReduceKernel::kMaxResults ||
        !first->take(step(producer).kernel, readers_[0].output))
      return;
    for (size_t r = 1; r < readers_.size(); ++r)
      first->join(*reduction(readers_[r].step), readers_[r].output);
    Step& joined = step(producer);
    joined.kernel = std::move(step(readers_[0].step).kernel);
    joined.outputs.clear();
    for (const Reader& r : readers_) joined.outputs.push_back(step(r.step).outputs[0]);
    for (const Reader& r : readers_) step(r.step) = Step{};
  }

  /// Fills readers_ in the order of the program; false when another step reads a result, when a
  /// result is an output or a variable, or when a reduction's result may share memory with a
  /// variable.
  bool find_readers(size_t producer) {
    readers_.clear();
    const std::vector<int>& made = step(producer).outputs;
    for (size_t o = 0; o < made.size(); ++o) {
      const std::vector<size_t>& readers = readers_of_.of(made[o]);
      if (is_kept_[root(made[o])] || readers.empty()) return false;
      for (size_t s : readers) {
        if (!reduction(s) || is_new_value_[root(step(s).outputs[0])]) return false;
        readers_.push_back({s, static_cast<int>(o)});
      }
    }
    std::sort(readers_.begin(), readers_.end(),
              [](const Reader& a, const Reader& b) { return a.step < b.step; });
    return true;
  }

  Schedule& schedule_;
  const Readers readers_of_;
  std::vector<bool> is_new_value_, is_kept_;  ///< per root; kept: also outputs
  std::vector<Reader> readers_;               ///< readers of the step at hand
};

}  // namespace

void join_reductions(Schedule& schedule) { Reductions(schedule).join(); }

}  // namespace crescent::cpu
