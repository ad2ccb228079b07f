// Studies: the same trials for any number of workers, and errors for what a study refuses.
#include <catch2/catch.hpp>
#include <cmath>

#include "support.h"

namespace {

using namespace crescent;
using namespace searches;

const char* const kOracles[] = {"random", "grid", "bayesian", "hyperband"};

Dict options_for(const std::string& oracle) {
  Dict config;
  if (oracle == "hyperband") config = {{"max_epochs", 9}};
  if (oracle == "bayesian") config = {{"num_initial_points", 6}};
  return {{"oracle", Dict{{"class_name", oracle}, {"config", config}}},
          {"max_trials", 40},
          {"seed", 7}};
}

void check_equal(const std::vector<TrialRecord>& a, const std::vector<TrialRecord>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("trial " << i + 1);
    CHECK(a[i].suggested == b[i].suggested);
    CHECK(a[i].values == b[i].values);
    CHECK(a[i].score == b[i].score);
    CHECK(a[i].state == b[i].state);
    CHECK(a[i].reports == b[i].reports);
  }
}

}  // namespace

TEST_CASE("Any number of workers in any order makes the same trials") {
  for (const char* oracle : kOracles)
    for (const bool has_pruner : {false, true}) {
      INFO(oracle << (has_pruner ? " with a pruner" : ""));
      Dict options = options_for(oracle);
      if (has_pruner) options.set("pruner", "median");
      const auto trials_of_one_worker = search(options, 1, mixed_objective, 4);
      CHECK(trials_of_one_worker.size() >= 20);
      for (const int workers : {2, 8})
        for (const unsigned schedule : {1u, 2u, 3u})
          check_equal(search(options, workers, mixed_objective, 4, schedule), trials_of_one_worker);
      int64_t pruned_count = 0;
      for (const TrialRecord& trial : trials_of_one_worker)
        pruned_count += trial.state == TrialRecord::State::pruned;
      CHECK((pruned_count > 0) == has_pruner);
    }
}

TEST_CASE("Another seed makes other trials") {
  Dict options = options_for("random");
  const auto trials = search(options, 1, mixed_objective);
  options.set("seed", 8);
  const auto other_trials = search(options, 1, mixed_objective);
  for (size_t i = 0; i < trials.size(); ++i)
    CHECK_FALSE(trials[i].values == other_trials[i].values);
}

TEST_CASE("A trial that was let go is asked for again, with its values and reports") {
  const TemporaryFile file;
  const Dict options{{"journal", file.path()}, {"seed", 1}, {"max_trials", 3}};
  const auto first_study = Study::open(options), second_study = Study::open(options);
  TrialPtr trial = first_study->ask();
  const double score = mixed_objective(*trial, 1);
  const Dict values = trial->values();
  trial->report(score, 1);
  trial->set_attribute("note", "half");
  bool ended = true;
  TrialPtr other_trial = second_study->try_ask(&ended);
  REQUIRE(other_trial);
  CHECK(other_trial->number() == 2);
  trial = nullptr;
  TrialPtr resumed_trial = second_study->ask();
  REQUIRE(resumed_trial);
  CHECK(resumed_trial->number() == 1);
  CHECK(resumed_trial->values() == values);
  CHECK(mixed_objective(*resumed_trial, 1) == score);
  CHECK(resumed_trial->record().attributes.at("note") == Value("half"));
  resumed_trial->report(99, 1);
  CHECK(resumed_trial->record().reports.size() == 1);
  second_study->tell(*resumed_trial, score);
  CHECK_THROWS_WITH(second_study->tell(*resumed_trial, score),
                    Catch::Contains("has ended already"));
  CHECK_THROWS_WITH(first_study->tell(*other_trial, score), Catch::Contains("is of another study"));
}

TEST_CASE("A study fails rather than wait for itself") {
  const auto study = Study::open({{"oracle", "bayesian"}, {"lag", 2}, {"seed", 1}});
  const TrialPtr first_trial = study->ask(), second_trial = study->ask();
  CHECK(second_trial->number() == 2);
  CHECK_THROWS_WITH(study->ask(), Catch::Contains("were asked for here and not told"));
  study->tell(*first_trial, 1);
  CHECK(study->ask()->number() == 3);
}

TEST_CASE("The end of a study is null, and what is no score is refused") {
  const auto study = Study::open({{"max_trials", 2}, {"seed", 1}});
  const TrialPtr first_trial = study->ask(), second_trial = study->ask();
  CHECK_FALSE(study->ask());
  CHECK_THROWS_WITH(study->tell(*first_trial, {}), Catch::Contains("has no score"));
  study->tell(*first_trial, NAN);
  study->tell(*second_trial, {}, TrialRecord::State::failed, "because");
  CHECK(study->best(5).empty());
  CHECK(study->history().at(2).message == "because");
  CHECK_FALSE(study->ask());
}

TEST_CASE("The journal of another search is refused, and more trials are not another search") {
  const TemporaryFile file;
  Dict options{{"journal", file.path()}, {"seed", 1}, {"max_trials", 2}, {"pruner", "median"}};
  while (const TrialPtr trial = Study::open(options)->ask())
    trial->study().tell(*trial, mixed_objective(*trial, 1));
  options.set("max_trials", 3);
  options.set("pruner", Dict{{"n_startup_trials", 5}});
  CHECK(Study::open(options)->ask()->number() == 3);
  options.erase("seed");
  CHECK(Study::open(options)->history().seed == 1);
  options.set("direction", "maximize");
  CHECK_THROWS_WITH(Study::open(options), Catch::Contains("is of a search with direction"));
  options.set("direction", "minimize");
  options.set("oracle", "grid");
  CHECK_THROWS_WITH(Study::open(options), Catch::Contains("is of a search with oracle"));
  options.set("oracle", "grit");
  CHECK_THROWS_WITH(Study::open(options), Catch::Contains("did you mean 'grid'"));
}

TEST_CASE("A hyperparameter keeps its values for all trials") {
  const auto study = Study::open({{"seed", 1}});
  const TrialPtr first_trial = study->ask(), second_trial = study->ask();
  first_trial->suggest(Hyperparameter::integer("units", 1, 8));
  second_trial->suggest(Hyperparameter::integer("units", 1, 9));
  study->tell(*first_trial, 1);
  CHECK_THROWS_WITH(study->tell(*second_trial, 1),
                    Catch::Contains("is Int, 1 to 8") && Catch::Contains("not Int, 1 to 9"));
}

TEST_CASE("Scopes name hyperparameters and decide whether they exist") {
  HyperParameters hp;
  hp.suggest(Hyperparameter::choice("model", {"mlp", "cnn"}));
  hp.push_name_scope("head");
  CHECK(hp.push_condition("model", {"mlp"}));
  CHECK(hp.suggest(Hyperparameter::integer("units", 4, 8)) == Value(4));
  hp.pop_scope();
  CHECK_FALSE(hp.push_condition("model", {"cnn"}));
  CHECK(hp.suggest(Hyperparameter::integer("filters", 4, 8)).is_null());
  hp.pop_scope();
  hp.pop_scope();
  CHECK(hp.suggest(Hyperparameter::integer("last", 1, 2)) == Value(1));
  CHECK(hp.values().keys() == std::vector<std::string>{"model", "head/units", "last"});
  CHECK(hp.space()[1].key() == "head/units[model=mlp]");
  CHECK_THROWS_WITH(hp.get("head/unit"), Catch::Contains("did you mean 'head/units'"));
  CHECK_THROWS_WITH(hp.push_condition("models", {"mlp"}), Catch::Contains("did you mean 'model'"));
}

TEST_CASE("Hyperparameters that are given count instead of those that are asked for") {
  const auto hyperparameters = std::make_shared<HyperParameters>();
  hyperparameters->suggest(Hyperparameter::fixed("rate", 0.5));
  Dict options{{"seed", 1}, {"max_trials", 5}, {"hyperparameters", hyperparameters}};
  const auto ask_both = [](const StudyPtr& study) {
    const TrialPtr trial = study->ask();
    CHECK(trial->suggest(Hyperparameter::real("rate", 0, 1)) == Value(0.5));
    return trial->suggest(Hyperparameter::real("other", 0, 1, {0, Sampling::linear, 0.25}));
  };
  CHECK_FALSE(ask_both(Study::open(options)) == Value(0.25));
  options.set("tune_new_entries", false);
  CHECK(ask_both(Study::open(options)) == Value(0.25));
  options.set("allow_new_entries", false);
  CHECK_THROWS_WITH(ask_both(Study::open(options)), Catch::Contains("'other' is not among"));
}

TEST_CASE("Importance finds the hyperparameter that matters") {
  const auto importances_for = [](double x_weight, double y_weight) {
    const auto study = Study::open({{"seed", 3}, {"max_trials", 100}});
    while (const TrialPtr trial = study->ask()) {
      const double x = trial->suggest(Hyperparameter::real("x", 0, 1)).as_float();
      const Value y = trial->suggest(Hyperparameter::choice("y", {"a", "b", "c"}));
      study->tell(*trial, x_weight * x + y_weight * (y.as_string() == "b" ? 1 : 0));
    }
    return study->importances();
  };
  CHECK(importances_for(1, 0).front().first == "x");
  CHECK(importances_for(1, 0).front().second > 0.9);
  CHECK(importances_for(1, 0).back().second < 0.1);
  CHECK(importances_for(0, 1).front().first == "y");
  CHECK(importances_for(0, 1).front().second > 0.99);
}
