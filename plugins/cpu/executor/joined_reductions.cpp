// Joins steps of a schedule: if only reductions read the result of an elementwise step, they
// compute this result block by block as they need it, and never write it to memory.
#include <algorithm>

#include "executor/readers.h"
#include "executor/schedule.h"
#include "reduction/reduction.h"

namespace crescent::cpu {
namespace {

/// Finds elementwise steps whose results only reductions read, and joins them with these
/// reductions.
class ReductionJoiner {
 public:
  explicit ReductionJoiner(Schedule& schedule)
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
    int output;  ///< index of the value that is read among the outputs of the elementwise step
  };

  Step& step(size_t s) { return schedule_.steps[s]; }
  ReduceKernel* reduction(size_t s) { return dynamic_cast<ReduceKernel*>(step(s).kernel.get()); }
  size_t root(int value) const { return static_cast<size_t>(schedule_.root(value)); }

  /// Joins the elementwise step `producer` and the reductions that read it into one step at the
  /// position of the producer, if possible.
  void join(size_t producer) {
    if (!dynamic_cast<Elementwise*>(step(producer).kernel.get()) || !find_readers(producer)) return;
    auto* first = reduction(readers_[0].step);
    for (size_t r = 1; r < readers_.size(); ++r)
      if (!first->may_join(*reduction(readers_[r].step))) return;
    if (readers_.size() > ReduceKernel::kMaxResults ||
        !first->fuse_elementwise(step(producer).kernel, readers_[0].output))
      return;
    for (size_t r = 1; r < readers_.size(); ++r)
      first->join(*reduction(readers_[r].step), readers_[r].output);
    Step& joined_step = step(producer);
    joined_step.kernel = std::move(step(readers_[0].step).kernel);
    joined_step.outputs.clear();
    for (const Reader& r : readers_) joined_step.outputs.push_back(step(r.step).outputs[0]);
    for (const Reader& r : readers_) step(r.step) = Step{};
  }

  /// Collects in readers_ the reductions that read results of step `producer`, in the order of the
  /// program. Returns false if a step of another kind reads a result, if a result is an output of
  /// the program or the new value of a variable, or if a reduction computes the new value of a
  /// variable.
  bool find_readers(size_t producer) {
    readers_.clear();
    const std::vector<int>& results = step(producer).outputs;
    for (size_t o = 0; o < results.size(); ++o) {
      const std::vector<size_t>& readers = readers_of_.of(results[o]);
      if (is_kept_[root(results[o])] || readers.empty()) return false;
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
  /// For each root value (Schedule::root), is_new_value_ tells whether it is the new value of a
  /// variable, and is_kept_ whether it is such a new value or an output.
  std::vector<bool> is_new_value_, is_kept_;
  /// The readers of the step that find_readers() was called for.
  std::vector<Reader> readers_;
};

}  // namespace

void join_reductions(Schedule& schedule) { ReductionJoiner(schedule).join(); }

}  // namespace crescent::cpu
