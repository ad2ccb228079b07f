// What oracles choose: all combinations of a grid, the brackets of Hyperband, and better trials by
// Bayesian optimization than at random.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "support.h"

namespace {

using namespace crescent;
using namespace searches;

/// The lowest score of a search's trials.
double best_score_of(const Dict& options, int workers = 1) {
  double best = INFINITY;
  for (const TrialRecord& trial : search(options, workers, branin_of))
    best = std::min(best, *trial.score);
  return best;
}

}  // namespace

TEST_CASE("A grid has every combination once, in branches too") {
  const auto trials = search({{"oracle", "grid"}, {"seed", 1}}, 2, [](Trial& trial, int64_t) {
    double sum = trial.suggest(Hyperparameter::integer("a", 1, 3)).as_float();
    const Value kind = trial.suggest(Hyperparameter::choice("kind", {"p", "q"}));
    if (kind == Value("p")) sum += trial.suggest(Hyperparameter::integer("n", 1, 4)).as_float();
    Hyperparameter conditional_parameter = Hyperparameter::boolean("other");
    conditional_parameter.conditions = {{"kind", {"q"}}};
    trial.suggest(conditional_parameter);
    return sum;
  });
  std::set<std::string> distinct_values;
  for (const TrialRecord& trial : trials) distinct_values.insert(to_json(trial.values));
  CHECK(trials.size() == 3 * (4 + 2));
  CHECK(distinct_values.size() == trials.size());
  CHECK(trials[0].values == Dict{{"a", 1}, {"kind", "p"}, {"n", 1}});
  CHECK(trials[1].values == Dict{{"a", 1}, {"kind", "p"}, {"n", 2}});
}

TEST_CASE("A grid without hyperparameters is one trial") {
  CHECK(search({{"oracle", "grid"}}, 1, [](Trial&, int64_t) { return 1.0; }).size() == 1);
}

TEST_CASE("Hyperband has the brackets of KerasTuner") {
  // The rounds that keras_tuner.oracles.HyperbandOracle(max_epochs=9, factor=3) makes in brackets
  // 2, 1 and 0.
  struct HyperbandRound {
    int64_t bracket, round, size, epochs, initial_epoch;
  };
  const HyperbandRound expected[] = {{2, 0, 9, 1, 0}, {2, 1, 3, 3, 1}, {2, 2, 1, 9, 3},
                                     {1, 0, 5, 3, 0}, {1, 1, 2, 9, 3}, {0, 0, 3, 9, 0}};
  const Dict oracle{{"class_name", "hyperband"},
                    {"config", Dict{{"max_epochs", 9}, {"factor", 3}}}};
  const auto trials = search({{"oracle", oracle}, {"seed", 5}}, 3, branin_of);
  size_t trial_index = 0;
  for (const HyperbandRound& round : expected)
    for (int64_t i = 0; i < round.size; ++i, ++trial_index) {
      INFO("trial " << trial_index + 1);
      REQUIRE(trial_index < trials.size());
      const Dict& suggested = trials[trial_index].suggested;
      CHECK(suggested.at("tuner/bracket") == Value(round.bracket));
      CHECK(suggested.at("tuner/round") == Value(round.round));
      CHECK(suggested.at("tuner/epochs") == Value(round.epochs));
      CHECK(suggested.at("tuner/initial_epoch") == Value(round.initial_epoch));
    }
  CHECK(trial_index == trials.size());
}

TEST_CASE("The best trials of a round go on in the next one, with their values") {
  const Dict oracle{{"class_name", "hyperband"}, {"config", Dict{{"max_epochs", 9}}}};
  const auto trials = search({{"oracle", oracle}, {"seed", 5}}, 3, branin_of);
  std::vector<const TrialRecord*> first_round;
  for (size_t i = 0; i < 9; ++i) first_round.push_back(&trials[i]);
  std::sort(first_round.begin(), first_round.end(),
            [](const auto* a, const auto* b) { return *a->score < *b->score; });
  for (size_t i = 0; i < 3; ++i) {
    CHECK(trials[9 + i].suggested.at("tuner/trial_id") == Value(first_round[i]->number));
    CHECK(trials[9 + i].values == first_round[i]->values);
  }
}

TEST_CASE("Bayesian optimization is nearer to the least value of Branin than chance") {
  constexpr double kMinimum = 0.397887;
  for (const int64_t lag : {1, 8}) {
    int better_count = 0;
    double random_sum = 0, bayesian_sum = 0;
    for (int seed = 1; seed <= 10; ++seed) {
      Dict options{{"seed", seed}, {"max_trials", 40}, {"lag", lag}};
      const double random_score = best_score_of(options) - kMinimum;
      options.set("oracle", "bayesian");
      const double bayesian_score = best_score_of(options) - kMinimum;
      better_count += bayesian_score < random_score;
      random_sum += std::log10(random_score);
      bayesian_sum += std::log10(bayesian_score);
    }
    WARN("Branin after 40 trials, lag " << lag << ": mean log10 of the regret " << bayesian_sum / 10
                                        << ", by chance " << random_sum / 10 << "; better in "
                                        << better_count << " of 10");
    CHECK(better_count >= 8);
    CHECK(bayesian_sum < random_sum - 5);
  }
}

TEST_CASE("Bayesian optimization goes on among failures, constant scores and single values") {
  const Dict options{{"oracle", "bayesian"}, {"seed", 1}, {"max_trials", 40}};
  const auto constant_trials = search(options, 2, [](Trial& trial, int64_t) {
    trial.suggest(Hyperparameter::choice("only", {1}));
    trial.suggest(Hyperparameter::boolean("two"));
    return 1.0;
  });
  CHECK(constant_trials.size() == 40);
  const auto failing_trials = search(options, 2, [](Trial& trial, int64_t) {
    const double x = trial.suggest(Hyperparameter::real("x", 0, 1)).as_float();
    return x < 0.5 ? NAN : x;
  });
  CHECK(failing_trials.size() == 40);
  double late_score_count = 0;
  for (size_t i = 30; i < 40; ++i) late_score_count += failing_trials[i].has_score();
  CHECK(late_score_count >= 1);
}
