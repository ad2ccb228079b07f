// Lays out a compiled elementwise op: blocks of registers, their length, and scratch memory.
#include <algorithm>

#include "elementwise/blocks.h"

namespace crescent::cpu {
namespace {

// The fewest operations in a task of a parallel loop, in units of an addition.
constexpr int64_t kMinTaskCost = 16384;
constexpr int64_t kMaxTasks = 128;

}  // namespace

/// Assigns memory blocks to registers. A block is reused after the last step that reads its
/// register.
void Elementwise::assign_slots() {
  std::vector<int> free_slots;
  auto assign_block = [&](Register& r) {
    if (free_slots.empty()) free_slots.push_back(slot_count_++);
    r.slot = free_slots.back();
    free_slots.pop_back();
    slot_bytes_ = std::max(slot_bytes_, r.bytes());
  };
  std::vector<std::vector<int>> ending_registers(steps_.size() + 1);
  for (size_t i = 0; i < registers_.size(); ++i) {
    Register& r = registers_[i];
    bool is_loaded = (r.input >= 0 || r.is_filled_by_scatter) && r.source == Source::block;
    if (is_loaded && !r.is_filled_by_scatter) loaded_registers_.push_back(static_cast<int>(i));
    if (r.is_broadcast && r.is_cell()) broadcast_cells_.push_back(static_cast<int>(i));
    if (is_loaded || r.is_broadcast) assign_block(r);
    if (is_loaded && r.last_read >= 0) ending_registers[r.last_read].push_back(r.slot);
  }
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (steps_[s].chain_call >= 0) {  // the results of a chain are outputs and need no block
      free_slots.insert(free_slots.end(), ending_registers[s].begin(), ending_registers[s].end());
      continue;
    }
    Register& r = registers_[steps_[s].result];
    // Takes a block for the result before the blocks of the arguments are freed: the arrays that a
    // loop gets must not overlap partially.
    if (r.source == Source::block) assign_block(r);
    free_slots.insert(free_slots.end(), ending_registers[s].begin(), ending_registers[s].end());
    if (r.source != Source::block) continue;
    if (r.last_read < 0)
      free_slots.push_back(r.slot);
    else
      ending_registers[r.last_read].push_back(r.slot);
  }
}

/// The row length for running a chain row by row: the period of those inputs that have the same
/// values in each row. 0 if the chain has no loop over rows, or if an input is neither an array nor
/// has this period.
int64_t Elementwise::columns_of(const ChainCall& call) const {
  int64_t columns = 0;
  for (size_t i = 0; i < call.input_registers.size() && call.chain->row_loop; ++i) {
    const Register& r = registers_[call.input_registers[i]];
    if (r.source == Source::memory && call.chain->is_stream[i]) continue;
    const int64_t period = r.source == Source::periodic ? r.broadcast.period() : 0;
    if (period == 0 || call.chain->is_stream[i] || (columns > 0 && period != columns)) return 0;
    columns = period;
  }
  return columns;
}

/// The number of elements that a periodic input takes in scratch memory, where it is repeated, so
/// that a block may begin anywhere in the period.
int64_t Elementwise::repeated_length(const Register& r) const {
  const int64_t period = r.broadcast.period();
  return period + (has_rows_ ? period : std::min(max_block_length_, size_));
}

/// Sets the block length, the number of elements per task, and the offsets of periodic inputs and
/// scatters in scratch memory.
void Elementwise::choose_layout() {
  size_t arrays = 0, periodic = 0;
  for (size_t i = 0; i < registers_.size(); ++i) {
    const Register& r = registers_[i];
    const bool is_half_input =
        r.input >= 0 && r.is_half() && r.source == Source::block && r.broadcast.is_identity();
    if (r.source == Source::memory)
      streams_.push_back({static_cast<int>(i), r.bytes()}), arrays += r.bytes();
    if ((r.source == Source::memory && r.input >= 0) || r.source == Source::row || is_half_input)
      prefetched_registers_.push_back(static_cast<int>(i));
    if (r.source == Source::periodic)
      periodic_registers_.push_back(static_cast<int>(i)), periodic += r.bytes();
    if (r.source == Source::row || r.is_column()) {
      row_or_column_registers_.push_back(static_cast<int>(i));
      boundary_lengths_.push_back(r.broadcast.run());
    }
  }
  std::sort(boundary_lengths_.begin(), boundary_lengths_.end());
  boundary_lengths_.erase(std::unique(boundary_lengths_.begin(), boundary_lengths_.end()),
                          boundary_lengths_.end());
  bool has_rounding =
      std::any_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.round != nullptr; });
  size_t block_slot_count = static_cast<size_t>(slot_count_) * slot_bytes_ + (has_rounding ? 2 : 0);
  has_rows_ = steps_.size() == 1 && steps_[0].chain_call >= 0 && columns_of(chain_calls_[0]) > 0;
  if (has_rows_) chain_calls_[0].columns = columns_of(chain_calls_[0]);
  if (block_slot_count == 0 && (periodic == 0 || has_rows_)) {
    max_block_length_ = 8 * kMaxBlockElements;
  } else if (block_slot_count == 0) {  // the repeated periodic inputs must stay in the cache
    max_block_length_ = std::min<int64_t>(
        4 * kBlockBytes / (arrays + periodic) / kMinBlockElements * kMinBlockElements,
        kMaxBlockElements);
  } else {
    max_block_length_ = static_cast<int64_t>(kBlockBytes / (block_slot_count + arrays)) /
                        kMinBlockElements * kMinBlockElements;
    max_block_length_ = std::clamp(max_block_length_, kMinBlockElements, kMaxBlockElements);
  }
  for (int i : periodic_registers_) {
    Register& r = registers_[i];
    r.periodic_offset = scratch_bytes_;
    scratch_bytes_ += (static_cast<size_t>(repeated_length(r)) * r.bytes() + 63) / 64 * 64;
  }
  for (Scatter& s : scatters_) {
    s.offset = scratch_bytes_;
    scratch_bytes_ += (s.lists.bytes() + 63) / 64 * 64;
  }
  task_length_ = std::max({kMinTaskCost / std::max(cost_, 1), size_ / kMaxTasks, int64_t{1024}});
  task_length_ = (task_length_ + max_block_length_ - 1) / max_block_length_ * max_block_length_;
}

/// True when the output may be written to the memory of the input: both have the same elements, and
/// no step reads the input after the output is written.
bool Elementwise::may_share(int input, int output) const {
  const Register& r = registers_[input];
  const int writing_step = writing_steps_[output];
  return r.source == Source::memory && !r.is_read_by_scatter && writing_step >= 0 &&
         r.last_read <= writing_step;
}

}  // namespace crescent::cpu
