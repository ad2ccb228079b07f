#include "random/shrinker.h"

#include <chrono>

#include "random/draft.h"

namespace crescent::random_programs {
namespace {

using Numbers = std::vector<uint32_t>;

class Shrinker {
 public:
  Shrinker(Numbers choices, const std::function<bool(const Numbers&)>& differs, double seconds)
      : differs_(differs),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
    keep(std::move(choices));
  }

  Shrunk run() {
    for (bool smaller = true; smaller && !is_late();) {
      smaller = false;
      smaller = remove_steps() || smaller;
      smaller = lower_choices() || smaller;
    }
    return {choices_, tried_};
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_late() const { return Clock::now() > end_; }

  /// Draws the recipe from these choices again. Stores the choices that the recipe used, and which
  /// range of choices belongs to each of its steps.
  void keep(Numbers choices) {
    Choices replayed(std::move(choices));
    draw_recipe(replayed);
    choices_ = replayed.made();
    steps_ = replayed.steps();
  }

  bool is_simpler(const Numbers& candidate) const {
    Choices replayed(candidate);
    draw_recipe(replayed);
    const Numbers& made = replayed.made();
    return made.size() != choices_.size() ? made.size() < choices_.size() : made < choices_;
  }

  bool take(const Numbers& candidate) {
    if (is_late() || !is_simpler(candidate)) return false;
    ++tried_;
    if (!differs_(candidate)) return false;
    keep(candidate);
    return true;
  }

  bool remove_steps() {
    bool smaller = false;
    for (size_t count : {4u, 2u, 1u}) {
      for (size_t i = steps_.size(); i-- > 0;) {
        if (i + count > steps_.size()) continue;
        Numbers candidate = choices_;
        candidate.erase(candidate.begin() + static_cast<ptrdiff_t>(steps_[i].first),
                        candidate.begin() + static_cast<ptrdiff_t>(steps_[i + count - 1].second));
        smaller = take(candidate) || smaller;
      }
    }
    return smaller;
  }

  bool lower_choices() {
    bool smaller = false;
    for (size_t i = 0; i < choices_.size(); ++i) {
      const uint32_t value = choices_[i];
      for (uint32_t less : {0u, value / 2, value - 1}) {
        if (i >= choices_.size() || choices_[i] == 0 || less >= choices_[i]) continue;
        Numbers candidate = choices_;
        candidate[i] = less;
        if (take(candidate)) {
          smaller = true;
          break;
        }
      }
    }
    return smaller;
  }

  const std::function<bool(const Numbers&)>& differs_;
  Clock::time_point end_;
  Numbers choices_;
  std::vector<std::pair<size_t, size_t>> steps_;
  int tried_ = 0;
};

}  // namespace

Shrunk shrink(Numbers choices, const std::function<bool(const Numbers&)>& differs, double seconds) {
  return Shrinker(std::move(choices), differs, seconds).run();
}

}  // namespace crescent::random_programs
