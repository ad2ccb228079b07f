#include "executor/memory_plan.h"

#include <algorithm>

#include "crescent/device/lowering.h"

namespace crescent::cpu {
namespace {

constexpr size_t kAlignment = 64;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// A block of memory that is in use from step `first` to step `last`.
struct Block {
  size_t bytes;
  int first, last;
  size_t offset = 0;
  std::vector<size_t*> owners;
};

bool may_fail(const Step& step) {
  return step.kernel->may_fail() || (step.op && crescent::may_fail(*step.op));
}

bool overlap(const Block& a, const Block& b) { return a.first <= b.last && b.first <= a.last; }

/// Blocks with assigned offsets. Short-lived blocks are in lists for intervals of steps, so that a
/// search only considers the lists of a block's own intervals.
class PlacedBlocks {
 public:
  explicit PlacedBlocks(const std::vector<Block>& blocks) {
    int steps = 0;
    for (const Block& block : blocks) {
      steps = std::max(steps, block.last);
      has_long_blocks_ = has_long_blocks_ || !is_short(block);
    }
    short_blocks_.resize(steps / kStepsPerInterval + 1);
  }

  void add(const Block& block) {
    if (has_long_blocks_) add_sorted(all_blocks_, block);
    if (!is_short(block)) return add_sorted(long_blocks_, block);
    for (int s = block.first / kStepsPerInterval; s <= block.last / kStepsPerInterval; ++s)
      short_blocks_[s].push_back(&block);
  }

  /// The lowest offset at which `block` fits between the blocks that are in use at the same time.
  size_t find_gap(const Block& block) {
    neighbours_.clear();
    if (!is_short(block)) {
      find_neighbours(block, all_blocks_);
    } else {
      find_neighbours(block, long_blocks_);
      const auto sorted_count = static_cast<ptrdiff_t>(neighbours_.size());
      for (int s = block.first / kStepsPerInterval; s <= block.last / kStepsPerInterval; ++s)
        find_neighbours(block, short_blocks_[s]);
      const auto first_unsorted = neighbours_.begin() + sorted_count;
      std::sort(first_unsorted, neighbours_.end(), is_below);
      std::inplace_merge(neighbours_.begin(), first_unsorted, neighbours_.end(), is_below);
    }
    size_t offset = 0;
    for (const Block* other : neighbours_) {
      if (offset + block.bytes <= other->offset) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    return offset;
  }

 private:
  using Blocks = std::vector<const Block*>;
  static constexpr int kStepsPerInterval = 64;
  static bool is_short(const Block& block) { return block.last - block.first < kStepsPerInterval; }
  static bool is_below(const Block* a, const Block* b) { return a->offset < b->offset; }
  static void add_sorted(Blocks& to, const Block& block) {
    to.insert(std::upper_bound(to.begin(), to.end(), &block, is_below), &block);
  }
  /// Appends to neighbours_ the blocks of `candidates` that are in use at the same time as `block`.
  /// A block that is in the lists of two intervals is appended twice, which does not change the
  /// result.
  void find_neighbours(const Block& block, const Blocks& candidates) {
    for (const Block* other : candidates)
      if (overlap(block, *other)) neighbours_.push_back(other);
  }

  bool has_long_blocks_ = false;
  /// all_blocks_: all blocks if there are long-lived ones, else empty; long_blocks_: the long-lived
  /// blocks; both are sorted by offset.
  Blocks all_blocks_, long_blocks_;
  std::vector<Blocks> short_blocks_;  ///< short-lived blocks for each interval of steps
  Blocks neighbours_;
};

/// Assigns offsets, largest blocks first, and returns the size of the arena.
size_t assign_offsets(std::vector<Block>& blocks) {
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const Block& a, const Block& b) { return a.bytes > b.bytes; });
  PlacedBlocks placed(blocks);
  size_t arena_size = 0;
  for (Block& block : blocks) {
    block.offset = placed.find_gap(block);
    arena_size = std::max(arena_size, block.offset + block.bytes);
    placed.add(block);
    for (size_t* owner : block.owners) *owner = block.offset;
  }
  return arena_size;
}

}  // namespace

MemoryPlan::MemoryPlan(Schedule& schedule) : schedule_(schedule) {
  place_callers_values();
  add_result_copies();
  find_lives();
  place_variable_results();
  place_outputs();
  find_lives();
  cache_prepacked();
  share_in_place();
  pack();
}

void MemoryPlan::place_callers_values() {
  locations.resize(schedule_.values.size());
  auto set_location = [&](int value, Location::Kind kind, size_t index) {
    if (Location& p = location(value); p.kind == Location::Kind::none)
      p = {kind, static_cast<int>(index), 0};
  };
  for (size_t i = 0; i < schedule_.inputs.size(); ++i)
    set_location(schedule_.inputs[i], Location::Kind::input, i);
  for (size_t i = 0; i < schedule_.constants.size(); ++i)
    set_location(schedule_.constants[i].value, Location::Kind::constant, i);
  for (size_t i = 0; i < schedule_.variables.size(); ++i)
    set_location(schedule_.variables[i].value, Location::Kind::variable, i);
}

/// Adds copies of those outputs and new values of variables that share memory with an input, a
/// variable or a constant, or that would have to be stored in two places.
void MemoryPlan::add_result_copies() {
  std::vector<bool> is_used(schedule_.values.size());
  auto copy_if_shared = [&](int& value) {
    size_t root = schedule_.root(value);
    if (locations[root].kind == Location::Kind::none && !is_used[root]) {
      is_used[root] = true;
      return;
    }
    value = schedule_.add_copy(value);
    locations.resize(schedule_.values.size());
    is_used.resize(schedule_.values.size(), true);
  };
  for (auto& v : schedule_.variables) {
    if (v.result >= 0) copy_if_shared(v.result);
  }
  for (int& value : schedule_.outputs) copy_if_shared(value);
}

void MemoryPlan::find_ends() {
  end_step_.resize(schedule_.steps.size());
  int last_step_before_wait = static_cast<int>(schedule_.steps.size()) - 1;
  for (size_t s = schedule_.steps.size(); s-- > 0;) {
    const auto step_index = static_cast<int>(s);
    end_step_[s] = schedule_.steps[s].is_overlapped ? last_step_before_wait : step_index;
    if (schedule_.steps[s].awaits_exchanges) last_step_before_wait = step_index - 1;
  }
}

void MemoryPlan::find_lives() {
  find_ends();
  producer_step_.assign(schedule_.values.size(), -1);
  last_use_.assign(schedule_.values.size(), -1);
  last_overlapped_use_.assign(schedule_.values.size(), -1);
  for (size_t s = 0; s < schedule_.steps.size(); ++s) {
    const Step& step = schedule_.steps[s];
    if (may_fail(step)) last_failure_ = std::max(last_failure_, end_step_[s]);
    const auto mark_use = [&](size_t root) {
      last_use_[root] = static_cast<int>(s);
      if (step.is_overlapped)
        last_overlapped_use_[root] = std::max(last_overlapped_use_[root], end_step_[s]);
    };
    for (int v : step.inputs) mark_use(schedule_.root(v));
    for (int v : step.outputs) {
      size_t root = schedule_.root(v);
      mark_use(root);
      producer_step_[root] = static_cast<int>(s);
    }
  }
}

/// Whether a step that runs at the same time as later steps (Step::is_overlapped) still uses the
/// value when `step`, whose index is `step_index`, writes to the value's memory. Overlapped steps
/// run one after another.
bool MemoryPlan::is_busy(int value, const Step& step, int step_index) const {
  const int last_step = last_overlapped_use_[schedule_.root(value)];
  return step.is_overlapped ? last_step > end_step_[static_cast<size_t>(step_index)]
                            : last_step >= step_index;
}

/// Whether all reads of a variable's old value are over when `step` writes `result` to the same
/// memory.
bool MemoryPlan::can_write_in_place(const Step& step, int old_value, int result) const {
  int old_root = schedule_.root(old_value);
  int producer_step = producer_step_[schedule_.root(result)];
  int last = last_use_[old_root];
  if (is_busy(old_value, step, producer_step)) return false;
  if (last != producer_step) return last < producer_step;
  for (size_t o = 0; o < step.outputs.size(); ++o) {
    if (schedule_.root(step.outputs[o]) != schedule_.root(result)) continue;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      bool reads = schedule_.root(step.inputs[i]) == old_root;
      if (reads && !step.kernel->may_share(static_cast<int>(i), static_cast<int>(o))) return false;
    }
  }
  return true;
}

/// Lets steps write new values of variables directly to the variables' memory. If a new value is
/// computed before the last step that may fail, it is copied to the variable after that step
/// instead, because a run that fails must not change a variable.
void MemoryPlan::place_variable_results() {
  std::vector<size_t> late_variables;
  for (size_t i = 0; i < schedule_.variables.size(); ++i) {
    auto [value, result] = schedule_.variables[i];
    if (result < 0) continue;
    const int producer_step = producer_step_[schedule_.root(result)];
    const Step& step = schedule_.steps[static_cast<size_t>(producer_step)];
    if (producer_step > last_failure_ && can_write_in_place(step, value, result)) {
      location(result) = {Location::Kind::variable, static_cast<int>(i), 0};
    } else {
      late_variables.push_back(i);
    }
  }
  for (size_t i : late_variables) {
    int copy = schedule_.add_copy(schedule_.variables[i].result);
    locations.resize(schedule_.values.size());
    location(copy) = {Location::Kind::variable, static_cast<int>(i), 0};
  }
}

void MemoryPlan::place_outputs() {
  for (size_t i = 0; i < schedule_.outputs.size(); ++i) {
    location(schedule_.outputs[i]) = {Location::Kind::output, static_cast<int>(i), 0};
  }
}

/// Assigns locations in the prepack cache to prepacked values that later steps read.
void MemoryPlan::cache_prepacked() {
  const int end = static_cast<int>(schedule_.prepack_steps);
  for (size_t s = 0; s < schedule_.prepack_steps; ++s) {
    for (int value : schedule_.steps[s].outputs) {
      if (last_use_[schedule_.root(value)] < end) continue;
      location(value) = {Location::Kind::prepacked, static_cast<int>(prepacked.size()), 0};
      prepacked.push_back(value);
    }
  }
}

/// Whether element i of value a and element i of value b are at the same offset. Values with the
/// same number of bytes may differ in the number of elements, because a step may read a slice from
/// an array that is longer than its result.
bool MemoryPlan::have_same_element_offsets(int a, int b) const {
  const TensorSpec &x = schedule_.values[a], &y = schedule_.values[b];
  return x.shape.size() == y.shape.size() && size_of(x.dtype) == size_of(y.dtype);
}

/// Lets the output of a step reuse the arena memory of an input if no later step reads that input.
void MemoryPlan::share_in_place() {
  auto is_in_arena = [&](size_t root) { return locations[root].kind == Location::Kind::none; };
  memory_root_.resize(schedule_.values.size());
  for (size_t v = 0; v < memory_root_.size(); ++v) memory_root_[v] = static_cast<int>(v);
  std::vector<bool> is_lent(schedule_.values.size());
  for (const Step& step : schedule_.steps) {
    for (int output : step.outputs) {
      size_t out = schedule_.root(output);
      if (!is_in_arena(out)) continue;
      for (int input : step.inputs) {
        size_t in = schedule_.root(input);
        bool is_last_use = is_in_arena(in) && producer_step_[in] >= 0 &&
                           last_use_[in] == producer_step_[out] && !is_lent[in];
        if (!is_last_use || !have_same_element_offsets(input, output)) continue;
        if (!can_write_in_place(step, input, output)) continue;
        is_lent[in] = true;
        memory_root_[out] = memory_root_[in];
        break;
      }
    }
  }
}

void MemoryPlan::pack() {
  std::vector<int> block_of_root(schedule_.values.size(), -1);
  std::vector<Block> blocks;
  for (const Step& step : schedule_.steps) {
    for (int output : step.outputs) {
      size_t root = schedule_.root(output);
      if (locations[root].kind != Location::Kind::none) continue;
      size_t memory_root = memory_root_[root];
      if (block_of_root[memory_root] < 0) {
        block_of_root[memory_root] = static_cast<int>(blocks.size());
        blocks.push_back(
            {aligned(schedule_.bytes(output)), producer_step_[root], producer_step_[root], 0, {}});
      }
      Block& block = blocks[block_of_root[memory_root]];
      block.last = std::max({block.last, last_use_[root], last_overlapped_use_[root]});
      block.owners.push_back(&locations[root].offset);
      locations[root].kind = Location::Kind::arena;
    }
  }
  scratch_offsets.resize(schedule_.steps.size());
  for (size_t s = 0; s < schedule_.steps.size(); ++s) {
    size_t bytes = aligned(schedule_.steps[s].kernel->scratch_bytes());
    if (bytes > 0)
      blocks.push_back({bytes, static_cast<int>(s), end_step_[s], 0, {&scratch_offsets[s]}});
  }
  arena_bytes = assign_offsets(blocks);
}

}  // namespace crescent::cpu
