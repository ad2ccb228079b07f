// The prologue of a plan: its first steps, which make stable values. They run when a variable that
// they read has changed, and then only those whose results no other program has made meanwhile.
#pragma once
#include <vector>

#include "executor/memory_plan.h"
#include "memory/stable_values.h"

namespace crescent::cpu {

class Prologue {
 public:
  Prologue(const Lowered& program, const MemoryPlan& plan, const Program& source,
           const Options& options, StableValues& values);

  size_t steps() const { return steps_.size(); }
  /// An argument of a kernel that is kept value `index`: it is filled in when the value is made.
  void add_argument(size_t index, std::byte** argument) {
    kept_[place_[index]].arguments.push_back(argument);
  }
  /// What was made, by whomever, is of these contents of the program's variables.
  bool is_valid(const std::vector<Contents>& contents) const;
  /// Makes what is not; run(s) runs step s.
  template <class F>
  void make(const std::vector<Contents>& contents, F&& run) {
    StableValues::Making making(values_);
    find_needed(contents, making);
    for (size_t s = 0; s < steps_.size(); ++s) {
      if (steps_[s].is_needed) run(s);
    }
    end(contents, making);
  }

 private:
  struct Kept {
    StableValuePtr value;
    size_t bytes;
    std::vector<size_t> variables;       ///< of the program, those of the value
    std::vector<std::byte**> arguments;  ///< where it is read and made
    uint64_t version = 0;                ///< that was seen last
    bool is_stale = true;
  };
  struct Step {
    std::vector<size_t> kept;    ///< that it makes
    std::vector<size_t> makers;  ///< of what it reads, and what is not kept
    bool has_results, is_needed = false;
  };
  struct Read {
    size_t variable;
    Contents contents;  ///< when that was seen last
  };
  void add_kept(const Program& source, StableValuePtr value, size_t bytes);
  void find_needed(const std::vector<Contents>& contents, StableValues::Making& making);
  void end(const std::vector<Contents>& contents, StableValues::Making& making);

  StableValues& values_;
  bool was_made_ = false;
  std::vector<Kept> kept_;
  std::vector<size_t> place_;  ///< in kept_, per kept value of the plan: equal ones are one
  std::vector<Step> steps_;
  std::vector<Read> reads_;
};

}  // namespace crescent::cpu
