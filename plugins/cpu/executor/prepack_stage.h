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

  size_t steps() const { return steps_.size(); }
  /// Registers an argument of a kernel that is prepacked value `index` of the memory plan; make()
  /// sets the pointer.
  void add_argument(size_t index, std::byte** argument) {
    cached_[index_[index]].arguments.push_back(argument);
  }
  /// True when all prepacked values, whichever program made them, belong to these contents of the
  /// program's variables.
  bool is_valid(const std::vector<Contents>& contents) const;
  /// Makes the values that are out of date; run(s) runs step s.
  template <class F>
  void make(const std::vector<Contents>& contents, F&& run) {
    PrepackCache::Update update(values_);
    find_needed(contents, update);
    for (size_t s = 0; s < steps_.size(); ++s) {
      if (steps_[s].is_needed) run(s);
    }
    end(contents, update);
  }

 private:
  struct CachedValue {
    PrepackedValuePtr value;
    size_t bytes;
    std::vector<size_t> variables;       ///< indices of the variables that it depends on
    std::vector<std::byte**> arguments;  ///< arguments that read or write it
    uint64_t version = 0;                ///< version at the last make()
    bool is_stale = true;
  };
  /// A step of the plan that makes prepacked values, or what those are made of.
  struct Step {
    std::vector<size_t> cached;     ///< indices in cached_ of its outputs
    std::vector<size_t> producers;  ///< producers of its inputs that are not cached
    bool has_results, is_needed = false;
  };
  struct Read {
    size_t variable;
    Contents contents;  ///< contents at the last make()
  };
  void add_cached(const Program& source, PrepackedValuePtr value, size_t bytes);
  void find_needed(const std::vector<Contents>& contents, PrepackCache::Update& update);
  void end(const std::vector<Contents>& contents, PrepackCache::Update& update);

  PrepackCache& values_;
  bool was_made_ = false;
  std::vector<CachedValue> cached_;
  std::vector<size_t> index_;  ///< per prepacked value of the plan: index in cached_
  std::vector<Step> steps_;
  std::vector<Read> reads_;
};

}  // namespace crescent::cpu
