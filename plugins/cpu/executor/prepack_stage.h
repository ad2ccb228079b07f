// The prepack stage of a plan: its first steps, which compute prepacked values. They run if a
// variable that they read has changed, but a step is skipped if another program has computed its
// results in the meantime.
#pragma once
#include <vector>

#include "executor/memory_plan.h"
#include "memory/prepack_cache.h"

namespace crescent::cpu {

/// The first steps of a plan, which compute prepacked values.
class PrepackStage {
 public:
  PrepackStage(const Schedule& schedule, const MemoryPlan& plan, const Program& source,
               const Options& options, PrepackCache& cache);

  /// The state of the prepacked values to which the arguments of one frame point.
  struct State {
    bool was_made = false;
    std::vector<uint64_t> versions;  ///< versions of the values after the last make()
    /// Contents, at the last make(), of the variables that the steps read.
    std::vector<Contents> contents;
  };

  size_t steps() const { return steps_.size(); }
  /// Registers an argument of the frame that shall point to the prepacked value with index `index`
  /// in the memory plan; make() sets the pointer.
  void add_argument(size_t index, size_t argument) {
    cached_values_[cached_indices_[index]].arguments.push_back(argument);
  }
  State new_state() const {
    return {false, std::vector<uint64_t>(cached_values_.size()),
            std::vector<Contents>(read_variables_.size())};
  }
  /// Whether all prepacked values, no matter which program computed them, were made from these
  /// contents of the program's variables.
  bool is_valid(const State& state, const std::vector<Contents>& contents) const;
  /// Computes the values that are out of date and sets the pointers to all values; `run(s)` must
  /// execute step s.
  template <class F>
  void make(State& state, const std::vector<Contents>& contents, std::byte** arguments, F&& run) {
    PrepackCache::ExclusiveUpdate update(cache_);
    state.was_made = false;  // was_made stays false if a step fails
    find_needed_steps(contents, arguments, update);
    for (size_t s = 0; s < steps_.size(); ++s) {
      if (steps_[s].must_run) run(s);
    }
    end(state, contents, update);
  }

 private:
  struct CachedValue {
    PrepackedValuePtr value;
    size_t bytes;
    std::vector<size_t> variables;  ///< indices of the variables on which the value depends
    std::vector<size_t> arguments;  ///< indices of the arguments that point to the value
    bool is_stale = true;           ///< used by make(): whether the value is out of date
  };
  /// A step that computes prepacked values, or values from which these are computed.
  struct Step {
    std::vector<size_t> cached_indices;  ///< indices in cached_values_ of its outputs
    /// Indices of the steps that compute those inputs of this step that are not in the cache.
    std::vector<size_t> producer_steps;
    bool has_results;       ///< false for a step that only checks values
    bool must_run = false;  ///< set by find_needed_steps()
  };
  void add_cached(const Program& source, PrepackedValuePtr value, size_t bytes);
  void find_needed_steps(const std::vector<Contents>& contents, std::byte** arguments,
                         PrepackCache::ExclusiveUpdate& update);
  void end(State& state, const std::vector<Contents>& contents,
           PrepackCache::ExclusiveUpdate& update);

  PrepackCache& cache_;
  std::vector<CachedValue> cached_values_;
  /// For each prepacked value of the plan, its index in cached_values_.
  std::vector<size_t> cached_indices_;
  std::vector<Step> steps_;
  std::vector<size_t> read_variables_;  ///< the variables that the steps read
};

}  // namespace crescent::cpu
