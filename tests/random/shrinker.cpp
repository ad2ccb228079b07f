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
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(seconds))) {
    store(std::move(choices));
  }

  ShrinkResult run() {
    for (bool has_changed = true; has_changed && !is_late();) {
      has_changed = false;
      has_changed = remove_steps() || has_changed;
      has_changed = decrease_choices() || has_changed;
    }
    return {choices_, try_count_};
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_late() const { return Clock::now() > deadline_; }

  /// Draws the recipe from these choices again. Stores the choices that the recipe used, and which
  /// range of choices belongs to each of its steps.
  void store(Numbers choices) {
    Choices replayed(std::move(choices));
    draw_recipe(replayed);
    choices_ = replayed.recorded();
    steps_ = replayed.steps();
  }

  bool is_simpler(const Numbers& candidate) const {
    Choices replayed(candidate);
    draw_recipe(replayed);
    const Numbers& made = replayed.recorded();
    return made.size() != choices_.size() ? made.size() < choices_.size() : made < choices_;
  }

  bool try_candidate(const Numbers& candidate) {
    if (is_late() || !is_simpler(candidate)) return false;
    ++try_count_;
    if (!differs_(candidate)) return false;
    store(candidate);
    return true;
  }

  bool remove_steps() {
    bool has_changed = false;
    for (size_t count : {4u, 2u, 1u}) {
      for (size_t i = steps_.size(); i-- > 0;) {
        if (i + count > steps_.size()) continue;
        Numbers candidate = choices_;
        candidate.erase(candidate.begin() + static_cast<ptrdiff_t>(steps_[i].first),
                        candidate.begin() + static_cast<ptrdiff_t>(steps_[i + count - 1].second));
        has_changed = try_candidate(candidate) || has_changed;
      }
    }
    return has_changed;
  }

  bool decrease_choices() {
    bool has_changed = false;
    for (size_t i = 0; i < choices_.size(); ++i) {
      const uint32_t value = choices_[i];
      for (uint32_t smaller_value : {0u, value / 2, value - 1}) {
        if (i >= choices_.size() || choices_[i] == 0 || smaller_value >= choices_[i]) continue;
        Numbers candidate = choices_;
        candidate[i] = smaller_value;
        if (try_candidate(candidate)) {
          has_changed = true;
          break;
        }
      }
    }
    return has_changed;
  }

  const std::function<bool(const Numbers&)>& differs_;
  Clock::time_point deadline_;
  Numbers choices_;
  std::vector<std::pair<size_t, size_t>> steps_;
  int try_count_ = 0;
};

}  // namespace

ShrinkResult shrink(Numbers choices, const std::function<bool(const Numbers&)>& differs,
                    double seconds) {
  return Shrinker(std::move(choices), differs, seconds).run();
}

}  // namespace crescent::random_programs
