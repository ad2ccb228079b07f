// Joins steps: what an elementwise step makes for reductions alone is made within them, block by
// block, and never goes to memory.
#include <algorithm>

#include "engine/lower.h"
#include "reduction/reduction.h"

namespace crescent::cpu {
namespace {

/// An elementwise step and the reductions that read what it makes.
class Reductions {
 public:
  Reductions(Lowered& program, size_t maker) : program_(program), maker_(maker) {}

  /// True when they are one step now, at the place of the elementwise one.
  bool join() {
    if (!dynamic_cast<Elementwise*>(step(maker_).kernel.get()) || !find_readers()) return false;
    auto* first = reduction(readers_[0].step);
    for (size_t r = 1; r < readers_.size(); ++r)
      if (!first->may_join(*reduction(readers_[r].step))) return false;
    if (readers_.size() > ReduceKernel::kMostResults ||
        !first->take(step(maker_).kernel, readers_[0].output))
      return false;
    for (size_t r = 1; r < readers_.size(); ++r)
      first->join(*reduction(readers_[r].step), readers_[r].output);
    Step& joined = step(maker_);
    joined.kernel = std::move(step(readers_[0].step).kernel);
    joined.outputs.clear();
    for (const Reader& r : readers_) joined.outputs.push_back(step(r.step).outputs[0]);
    for (size_t r = readers_.size(); r-- > 0;)
      program_.steps.erase(program_.steps.begin() + static_cast<ptrdiff_t>(readers_[r].step));
    return true;
  }

 private:
  struct Reader {
    size_t step;
    int output;  ///< of the elementwise step
  };

  Step& step(size_t s) { return program_.steps[s]; }
  ReduceKernel* reduction(size_t s) { return dynamic_cast<ReduceKernel*>(step(s).kernel.get()); }
  bool same(int a, int b) const { return program_.root(a) == program_.root(b); }

  /// Its memory may be that of a variable.
  bool is_new_value(int value) const {
    return std::any_of(
        program_.variables.begin(), program_.variables.end(),
        [&](const Lowered::Binding& v) { return v.result >= 0 && same(v.result, value); });
  }
  /// Somebody outside sees the value.
  bool is_kept(int value) const {
    return is_new_value(value) || std::any_of(program_.outputs.begin(), program_.outputs.end(),
                                              [&](int v) { return same(v, value); });
  }

  /// In the order of the program; false when others read what is made, too.
  bool find_readers() {
    const std::vector<int>& made = step(maker_).outputs;
    if (std::any_of(made.begin(), made.end(), [&](int v) { return is_kept(v); })) return false;
    std::vector<bool> is_read(made.size());
    for (size_t s = maker_ + 1; s < program_.steps.size(); ++s) {
      for (int value : step(s).inputs) {
        for (size_t o = 0; o < made.size(); ++o) {
          if (!same(value, made[o])) continue;
          if (!reduction(s) || is_new_value(step(s).outputs[0])) return false;
          readers_.push_back({s, static_cast<int>(o)}), is_read[o] = true;
        }
      }
    }
    return std::find(is_read.begin(), is_read.end(), false) == is_read.end();
  }

  Lowered& program_;
  size_t maker_;
  std::vector<Reader> readers_;
};

}  // namespace

void join_reductions(Lowered& program) {
  for (size_t s = program.prologue; s < program.steps.size(); ++s) Reductions(program, s).join();
}

}  // namespace crescent::cpu
