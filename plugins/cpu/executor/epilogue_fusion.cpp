// Joins two steps of a schedule: an elementwise step becomes the epilogue of a matrix product if it
// is the only reader of the product's result and the product supports epilogues.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "executor/readers.h"
#include "executor/schedule.h"

namespace crescent::cpu {
namespace {

/// Fuses steps of a schedule. A step that was fused with another one stays in the list without a
/// kernel, and steps are identified by their original positions, so that a fusion only changes the
/// positions of the steps around it.
class EpilogueFusion {
 public:
  explicit EpilogueFusion(Schedule& schedule)
      : schedule_(schedule),
        readers_(schedule),
        producer_(schedule.values.size(), -1),
        is_kept_(schedule.values.size()),
        original_position_(schedule.steps.size()),
        position_(schedule.steps.size()),
        fused_with_(schedule.steps.size()) {
    for (auto* numbers : {&original_position_, &position_, &fused_with_})
      std::iota(numbers->begin(), numbers->end(), 0);
    for (size_t s = 0; s < schedule.steps.size(); ++s)
      for (int value : step(s).outputs) producer_[root(value)] = static_cast<int>(s);
    for (int value : schedule.outputs) is_kept_[root(value)] = true;
    for (const Schedule::Binding& v : schedule.variables) {
      if (v.result < 0) continue;
      is_kept_[root(v.result)] = true;
      old_root_by_new_root_.emplace(root(v.result), root(v.value));
    }
  }

  void run() {
    for (size_t s = schedule_.prepack_steps; s < schedule_.steps.size();)
      if (!join(s)) ++s;
    drop_joined(schedule_);
  }

 private:
  Step& step(size_t s) { return schedule_.steps[s]; }
  size_t root(int value) const { return static_cast<size_t>(schedule_.root(value)); }
  /// The current position of the step whose original position is `original_position`, or of the
  /// step that it was fused with.
  size_t position_of(size_t original_position) const {
    while (fused_with_[original_position] != original_position)
      original_position = fused_with_[original_position];
    return position_[original_position];
  }

  /// Joins the product at position `product` with the step that alone reads its result; returns
  /// whether this succeeded.
  bool join(size_t product) {
    if (!step(product).kernel || !step(product).kernel->can_host_epilogue()) return false;
    const int result = step(product).outputs[0];
    const std::vector<size_t>& reader_positions = readers_.of(result);
    if (is_kept_[root(result)] || reader_positions.size() != 1) return false;
    const size_t reader = position_of(reader_positions[0]);
    if (!find_moves(product, reader)) return false;
    const size_t last_step = last_reader_of_old_values(product, reader);
    if (last_step != product && !can_run_later(product)) return false;
    if (!fuse_reader(product, reader)) return false;
    reorder(product, last_step);
    return true;
  }

  /// Collects in moved_positions_ the steps between product and reader on which the reader depends,
  /// and which therefore must move before the product. Returns false if one of them must not move
  /// because its result is large. Steps with small results are, for example, those that compute the
  /// scalars of an optimizer.
  bool find_moves(size_t product, size_t reader) {
    constexpr size_t kMaxMovedBytes = 64;  // largest size of a result of a step that may move
    moved_positions_.clear();
    std::vector<int> needed_values = step(reader).inputs;
    while (!needed_values.empty()) {
      const int producer_step = producer_[root(needed_values.back())];
      needed_values.pop_back();
      if (producer_step < 0) continue;
      const size_t s = position_of(producer_step);
      if (s <= product || s >= reader || is_moved(s)) continue;
      if (step(s).op && step(s).op->effect() == Effect::ordered) return false;
      for (int value : step(s).outputs)
        if (schedule_.bytes(value) > kMaxMovedBytes) return false;
      moved_positions_.push_back(s);
      needed_values.insert(needed_values.end(), step(s).inputs.begin(), step(s).inputs.end());
    }
    std::sort(moved_positions_.begin(), moved_positions_.end());
    return true;
  }
  bool is_moved(size_t s) const {
    return std::find(moved_positions_.begin(), moved_positions_.end(), s) != moved_positions_.end();
  }

  /// The reader may overwrite the old values of variables. Returns the last step between product
  /// and reader that reads such an old value; `product` if there is none.
  size_t last_reader_of_old_values(size_t product, size_t reader) {
    size_t last_step = product;
    for (int output : step(reader).outputs) {
      const auto [first, end] = old_root_by_new_root_.equal_range(root(output));
      for (auto replaced_value = first; replaced_value != end; ++replaced_value)
        for (size_t reader_position : readers_.of_root(replaced_value->second)) {
          const size_t s = position_of(reader_position);
          if (s < reader && !is_moved(s)) last_step = std::max(last_step, s);
        }
    }
    return last_step;
  }

  /// Whether running the product later needs no more memory. Its inputs are then kept longer and
  /// its result is no longer stored, so the inputs must be no larger than the result.
  bool can_run_later(size_t product) {
    size_t input_bytes = 0;
    for (int value : step(product).inputs) input_bytes += schedule_.bytes(value);
    return input_bytes <= schedule_.bytes(step(product).outputs[0]);
  }

  bool fuse_reader(size_t product, size_t reader) {
    Step &product_step = step(product), &reader_step = step(reader);
    const size_t result = root(product_step.outputs[0]);
    const auto read_input = std::find_if(reader_step.inputs.begin(), reader_step.inputs.end(),
                                         [&](int value) { return root(value) == result; });
    if (!product_step.kernel->fuse_epilogue(
            reader_step.kernel, static_cast<int>(read_input - reader_step.inputs.begin())))
      return false;
    reader_step.inputs.erase(read_input);
    product_step.inputs.insert(product_step.inputs.end(), reader_step.inputs.begin(),
                               reader_step.inputs.end());
    product_step.outputs = std::move(reader_step.outputs);
    reader_step = Step{};
    fused_with_[original_position_[reader]] = original_position_[product];
    return true;
  }

  /// Moves the steps in moved_positions_ before the product, and the product behind the step
  /// `last_step`.
  void reorder(size_t product, size_t last_step) {
    if (last_step == product && moved_positions_.empty()) return;
    const size_t end =
        std::max(last_step, moved_positions_.empty() ? product : moved_positions_.back()) + 1;
    std::vector<size_t> order = moved_positions_;
    for (size_t s = product; s < end; ++s) {
      if (s > product && !is_moved(s)) order.push_back(s);
      if (s == last_step) order.push_back(product);
    }
    std::vector<Step> steps;
    std::vector<size_t> original_positions;
    for (size_t s : order)
      steps.push_back(std::move(step(s))), original_positions.push_back(original_position_[s]);
    for (size_t i = 0; i < order.size(); ++i) {
      step(product + i) = std::move(steps[i]);
      original_position_[product + i] = original_positions[i];
      position_[original_positions[i]] = product + i;
    }
  }

  Schedule& schedule_;
  const Readers readers_;  ///< the readers of each value, by original position
  /// For each root value (Schedule::root), the original position of the step that computes it; -1
  /// if there is none.
  std::vector<int> producer_;
  /// For each root value, whether it is an output or the new value of a variable.
  std::vector<bool> is_kept_;
  /// For each variable that the program writes, the root of its new value (key) and of its old
  /// value.
  std::unordered_multimap<size_t, size_t> old_root_by_new_root_;
  /// For each position, the original position of its step.
  std::vector<size_t> original_position_;
  /// For each original position, the present position of the step.
  std::vector<size_t> position_;
  /// For each original position, the original position of the step with which its step was fused;
  /// the same position if it was not fused.
  std::vector<size_t> fused_with_;
  /// Positions, in ascending order, of the steps to move before the product.
  std::vector<size_t> moved_positions_;
};

}  // namespace

void fuse_epilogues(Schedule& schedule) { EpilogueFusion(schedule).run(); }

}  // namespace crescent::cpu
