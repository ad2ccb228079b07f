// MemoryPlan: the location of every value. Inputs, outputs and variables are memory of the caller;
// intermediate values are offsets in one arena, where values share memory unless they are alive at
// the same time; prepacked values are in the prepack cache, which programs share.
#pragma once
#include <vector>

#include "executor/schedule.h"

namespace crescent::cpu {

struct Location {
  enum class Kind : uint8_t {
    none,
    input,
    output,
    variable,
    constant,
    arena,
    prepacked
  } kind = Kind::none;
  int index = 0;      ///< index of the input, output, variable, constant or prepacked value
  size_t offset = 0;  ///< offset in the arena
};

struct MemoryPlan {
  /// Plans the memory of a schedule. Where a result cannot be written to its final location,
  /// appends a step to the schedule that copies it there.
  explicit MemoryPlan(Schedule& schedule);

  /// For each value, where its memory is; only entries of root values (Schedule::root) are used.
  std::vector<Location> locations;
  /// For each step, the offset of its scratch memory in the arena.
  std::vector<size_t> scratch_offsets;
  std::vector<int> prepacked;  ///< indices of the values that are in the prepack cache
  size_t arena_bytes = 0;

 private:
  void place_callers_values();
  void add_result_copies();
  void place_variable_results();
  void place_outputs();
  void cache_prepacked();
  void find_ends();
  void find_lives();
  void share_in_place();
  void pack();
  bool is_busy(int value, const Step& step, int step_index) const;
  bool can_write_in_place(const Step& step, int old_value, int result) const;
  bool have_same_element_offsets(int a, int b) const;
  Location& location(int value) { return locations[schedule_.root(value)]; }

  Schedule& schedule_;
  int last_failure_ = -1;  ///< index of the last step at whose end a run may fail
  /// For each root value (Schedule::root), the index of the step that computes it; -1 if there is
  /// none.
  std::vector<int> producer_step_;
  /// For each root value, the index of the last step that reads or computes it.
  std::vector<int> last_use_;
  /// For each step, the index of the last step that runs before the step has ended; the step's own
  /// unless it is overlapped.
  std::vector<int> end_step_;
  /// For each root value, the largest end_step_ of the overlapped steps that read or compute it; -1
  /// if there is none.
  std::vector<int> last_overlapped_use_;
  /// For each root value, the root value whose memory it reuses, or the value itself.
  std::vector<int> memory_root_;
};

}  // namespace crescent::cpu
