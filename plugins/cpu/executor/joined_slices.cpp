// Joins steps of a schedule: elementwise steps read a slice row by row directly from the array from
// which it is cut, so that the slice is never copied.
#include <algorithm>

#include "elementwise/elementwise.h"
#include "executor/schedule.h"

namespace crescent::cpu {
namespace {

class SliceJoiner {
 public:
  SliceJoiner(Schedule& schedule, const Options& options)
      : schedule_(schedule), options_(options), slice_steps_(schedule.values.size(), kNone) {}

  void join() {
    find_slices();
    for (size_t s = schedule_.prepack_steps; s < schedule_.steps.size(); ++s) join_reader(step(s));
    drop_unread_slices();
  }

 private:
  static constexpr size_t kNone = -1;

  Step& step(size_t s) { return schedule_.steps[s]; }
  const TensorSpec& spec(int value) const { return schedule_.values[value]; }
  size_t& slice_step(int value) { return slice_steps_[value]; }

  /// Finds the slices that are read by elementwise steps only.
  void find_slices() {
    for (size_t s = schedule_.prepack_steps; s < schedule_.steps.size(); ++s) {
      for (int value : step(s).inputs) {
        if (!reads_by_element(step(s))) slice_step(schedule_.root(value)) = kNone;
      }
      if (is_worth_it(step(s))) slice_step(step(s).outputs[0]) = s;
    }
    for (int value : schedule_.outputs) slice_step(schedule_.root(value)) = kNone;
    for (const Schedule::Binding& v : schedule_.variables)
      if (v.result >= 0) slice_step(schedule_.root(v.result)) = kNone;
  }

  static bool reads_by_element(const Step& step) {
    auto* kernel = dynamic_cast<const Elementwise*>(step.kernel.get());
    return kernel && step.op && kernel->can_be_cut();
  }

  /// Whether a step is a slice that is worth fusing with the steps that read it. Since the sliced
  /// array then stays in memory until these steps run, it must be an input of the program or at
  /// most twice as large as the slice.
  bool is_worth_it(const Step& step) const {
    auto* slice = dynamic_cast<const Slice*>(step.op.get());
    if (!slice || std::any_of(slice->stride.begin(), slice->stride.end(),
                              [](int64_t stride) { return stride != 1; }))
      return false;
    const int sliced_value = schedule_.root(step.inputs[0]);
    return schedule_.bytes(sliced_value) <= 2 * schedule_.bytes(step.outputs[0]) ||
           std::any_of(schedule_.inputs.begin(), schedule_.inputs.end(),
                       [&](int v) { return schedule_.root(v) == sliced_value; });
  }

  /// The window by which input `input` of an elementwise step reads the elements of the step
  /// `slice` directly from the array that is sliced.
  Elementwise::Window window(int input, const Step& slice) const {
    const auto& op = static_cast<const Slice&>(*slice.op);
    const Shape& full_shape = spec(slice.inputs[0]).shape;
    int64_t first = 0;
    for (int axis = 0; axis < full_shape.rank(); ++axis)
      first = first * full_shape[axis] + op.start[axis];
    return {input, full_shape, first};
  }

  void join_reader(Step& reader) {
    if (!reads_by_element(reader)) return;
    TensorSpecs in, out;
    for (int value : reader.inputs) in.push_back(spec(value));
    for (int value : reader.outputs) out.push_back(spec(value));
    std::vector<Elementwise::Window> windows;
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      const size_t slice = slice_step(reader.inputs[i]);
      if (slice == kNone) continue;
      const Elementwise::Window w = window(static_cast<int>(i), step(slice));
      if (Elementwise::can_read(w, in[i], out[0].shape)) windows.push_back(w);
    }
    if (windows.empty()) return;
    auto kernel = Elementwise::make({*reader.op, in, out, options_}, windows);
    if (!kernel) return;
    reader.kernel = std::move(kernel);
    for (const Elementwise::Window& w : windows) {
      int& value = reader.inputs[w.input];
      value = step(slice_step(value)).inputs[0];
    }
  }

  void drop_unread_slices() {
    std::vector<bool> is_read(schedule_.values.size());
    for (const Step& s : schedule_.steps)
      for (int value : s.inputs) is_read[schedule_.root(value)] = true;
    std::vector<bool> is_dropped(schedule_.steps.size());
    for (size_t s : slice_steps_) {
      if (s != kNone) is_dropped[s] = !is_read[step(s).outputs[0]];
    }
    size_t next_step = 0;
    std::erase_if(schedule_.steps, [&](const Step&) { return is_dropped[next_step++]; });
  }

  Schedule& schedule_;
  const Options& options_;
  /// For each value, the index of the slice step that computes it, if only elementwise steps read
  /// it; else kNone.
  std::vector<size_t> slice_steps_;
};

}  // namespace

void join_slices(Schedule& schedule, const Options& options) {
  SliceJoiner(schedule, options).join();
}

}  // namespace crescent::cpu
