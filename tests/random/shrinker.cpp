#include "random/shrinker.h"

#include <chrono>

#include "random/draft.h"

namespace crescent::random_programs {
namespace {

using ChoiceList = std::vector<uint32_t>;

class Shrinker {
 public:
  Shrinker(ChoiceList choices, const std::function<bool(const ChoiceList&)>& differs,
           double seconds)
      : differs_(differs),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(seconds))) {
    store_choices(std::move(choices));
  }

  ShrinkResult run() {
    for (bool has_changed = true; has_changed && !is_past_deadline();) {
      has_changed = false;
      has_changed = remove_steps() || has_changed;
      has_changed = decrease_choices() || has_changed;
    }
    return {choices_, try_count_};
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_past_deadline() const { return Clock::now() > deadline_; }

  /// Draws the program from these choices again. Stores the choices that the program used, and
  /// which range of choices belongs to each of its steps.
  void store_choices(ChoiceList choices) {
    Choices replayed_choices(std::move(choices));
    draw_recipe(replayed_choices);
    choices_ = replayed_choices.recorded_choices();
    steps_ = replayed_choices.steps();
  }

  bool is_simpler(const ChoiceList& candidate) const {
    Choices replayed_choices(candidate);
    draw_recipe(replayed_choices);
    const ChoiceList& recorded_by_candidate = replayed_choices.recorded_choices();
    return recorded_by_candidate.size() != choices_.size()
               ? recorded_by_candidate.size() < choices_.size()
               : recorded_by_candidate < choices_;
  }

  bool try_candidate(const ChoiceList& candidate) {
    if (is_past_deadline() || !is_simpler(candidate)) return false;
    ++try_count_;
    if (!differs_(candidate)) return false;
    store_choices(candidate);
    return true;
  }

  bool remove_steps() {
    bool has_changed = false;
    for (size_t count : {4u, 2u, 1u}) {
      for (size_t i = steps_.size(); i-- > 0;) {
        if (i + count > steps_.size()) continue;
        ChoiceList candidate = choices_;
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
        ChoiceList candidate = choices_;
        candidate[i] = smaller_value;
        if (try_candidate(candidate)) {
          has_changed = true;
          break;
        }
      }
    }
    return has_changed;
  }

  const std::function<bool(const ChoiceList&)>& differs_;
  Clock::time_point deadline_;
  ChoiceList choices_;
  std::vector<std::pair<size_t, size_t>> steps_;
  int try_count_ = 0;
};

}  // namespace

ShrinkResult shrink(ChoiceList choices, const std::function<bool(const ChoiceList&)>& differs,
                    double seconds) {
  return Shrinker(std::move(choices), differs, seconds).run();
}

}  // namespace crescent::random_programs
