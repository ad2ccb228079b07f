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
  /// Appends copies to the schedule where a result cannot be written to its final location.
  explicit MemoryPlan(Schedule& schedule);

  std::vector<Location> locations;  ///< per value; only those of roots are used
  std::vector<size_t> scratch;      ///< per step: offset of its scratch in the arena
  std::vector<int> prepacked;       ///< values in the prepack cache
  size_t arena_bytes = 0;

 private:
  void place_callers_values();
  void add_result_copies();
  void place_variable_results();
  void place_outputs();
  void cache_prepacked();
  void find_lives();
  void share_in_place();
  void pack();
  bool can_write_in_place(const Step& step, int old_value, int result) const;
  Location& location(int value) { return locations[schedule_.root(value)]; }

  Schedule& schedule_;
  int last_failure_ = -1;         ///< last step that may fail
  std::vector<int> made_;         ///< per root: the step that makes it, -1 for none
  std::vector<int> last_use_;     ///< per root: the last step that reads or makes it
  std::vector<int> shares_with_;  ///< per root: the root whose memory it reuses, or itself
};

}  // namespace crescent::cpu
