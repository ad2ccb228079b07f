// Choices: the random numbers from which a program is made. They are drawn from a seed and
// recorded, so that a program can be simplified by removing or decreasing some: 0 is the simplest
// choice everywhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace crescent::random_programs {

class Choices {
 public:
  explicit Choices(uint64_t seed);
  /// Replays these choices; after their end all choices are 0.
  explicit Choices(std::vector<uint32_t> preset_choices)
      : replayed_choices_(std::move(preset_choices)), replays_(true) {}

  /// A choice from 0 to count - 1.
  int64_t below(int64_t count);
  /// True with probability 1 / count; false is the simpler choice.
  bool one_in(int64_t count) { return below(count) == count - 1; }
  template <class T, size_t N>
  const T& one_of(const T (&values)[N]) {
    return values[static_cast<size_t>(below(static_cast<int64_t>(N)))];
  }
  template <class List>
  const auto& one_of(const List& values) {
    return values[static_cast<size_t>(below(static_cast<int64_t>(values.size())))];
  }

  /// While an object of this class exists, choices belong to one step of the program, which can be
  /// removed as a whole.
  class Step {
   public:
    explicit Step(Choices& choices) : choices_(choices), first_(choices.recorded_choices_.size()) {}
    ~Step() { choices_.steps_.emplace_back(first_, choices_.recorded_choices_.size()); }
    Step(const Step&) = delete;

   private:
    Choices& choices_;
    size_t first_;
  };

  const std::vector<uint32_t>& recorded_choices() const { return recorded_choices_; }
  /// The range [first, end) of the choices of each step.
  const std::vector<std::pair<size_t, size_t>>& steps() const { return steps_; }

 private:
  uint32_t draw();

  std::vector<uint32_t> replayed_choices_, recorded_choices_;
  std::vector<std::pair<size_t, size_t>> steps_;
  uint64_t state_ = 0;
  bool replays_ = false;
};

}  // namespace crescent::random_programs
