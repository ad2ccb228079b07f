// The prepack stage of a plan: its first steps, which make prepacked values. They run when a
// variable that they read has changed, and then only those whose results no other program has made
// in the meantime.
#pragma once
#include <vector>

#include "executor/memory_plan.h"
#include "memory/prepack_cache.h"

namespace crescent::cpu {

class PrepackStage {
 public:
  PrepackStage(const Schedule& schedule, const MemoryPlan& plan, const Program& source,
               const Options& options, PrepackCache& values);

  /// The prepacked values that the arguments of one frame point to.
  struct State {
    bool was_made = false;
    std::vector<uint64_t> versions;  ///< of the values, at the last make()
    std::vector<Contents> contents;  ///< of the variables that the steps read, at the last make()
  };

  size_t steps() const { return steps_.size(); }
  /// Registers the argument with index `argument` in the frame as a pointer to prepacked value
  /// `index` of the memory plan; make() sets the pointer.
  void add_argument(size_t index, size_t argument) {
    cached_[index_[index]].arguments.push_back(argument);
  }
  State new_state() const {
    return {false, std::vector<uint64_t>(cached_.size()), std::vector<Contents>(reads_.size())};
  }
  /// True when all prepacked values, whichever program made them, belong to these contents of the
  /// program's variables.
  bool is_valid(const State& state, const std::vector<Contents>& contents) const;
  /// Makes the values that are out of date and sets the pointers to all values; run(s) runs step s.
  template <class F>
  void make(State& state, const std::vector<Contents>& contents, std::byte** arguments, F&& run) {
    PrepackCache::Update update(values_);
    state.was_made = false;  // until every step has succeeded
    find_needed(contents, arguments, update);
    for (size_t s = 0; s < steps_.size(); ++s) {
      if (steps_[s].is_needed) run(s);
    }
    end(state, contents, update);
  }

 private:
  struct CachedValue {
    PrepackedValuePtr value;
    size_t bytes;
    std::vector<size_t> variables;  ///< indices of the variables that it depends on
    std::vector<size_t> arguments;  ///< arguments that read or write it
    bool is_stale = true;           ///< during make()
  };
  /// A step of the plan that makes prepacked values, or what those are made of.
  struct Step {
    std::vector<size_t> cached;           ///< indices in cached_ of its outputs
    std::vector<size_t> producers;        ///< producers of its inputs that are not cached
    bool has_results, is_needed = false;  ///< is_needed: during make()
  };
  void add_cached(const Program& source, PrepackedValuePtr value, size_t bytes);
  void find_needed(const std::vector<Contents>& contents, std::byte** arguments,
                   PrepackCache::Update& update);
  void end(State& state, const std::vector<Contents>& contents, PrepackCache::Update& update);

  PrepackCache& values_;
  std::vector<CachedValue> cached_;
  std::vector<size_t> index_;  ///< per prepacked value of the plan: index in cached_
  std::vector<Step> steps_;
  std::vector<size_t> reads_;  ///< the variables that the steps read
};

}  // namespace crescent::cpu
