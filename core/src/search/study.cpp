#include "crescent/search/study.h"

#include <algorithm>
#include <random>
#include <thread>

#include "crescent/system/interrupt.h"
#include "search/study_records.h"
#include "search/study_state.h"

namespace crescent {
namespace {

using namespace std::chrono_literals;
constexpr auto kShortestWait = 1ms, kLongestWait = 50ms;

/// The first record of the journal: the options of the study, which must be the same in all its
/// processes.
Dict header_of(const StudyOptions& options, uint64_t seed) {
  List space;
  if (options.hyperparameters)
    for (const Hyperparameter& p : options.hyperparameters->space()) space.push_back(p.to_dict());
  return {{"oracle", serialize(options.oracle.get())},
          {"direction", options.direction},
          {"seed", static_cast<int64_t>(seed)},
          {"lag", options.lag},
          {"pruner",
           options.pruner.is_null() ? Value() : Value(Pruner::from(options.pruner).options())},
          {"hyperparameters", space},
          {"tune_new_entries", options.tune_new_entries},
          {"allow_new_entries", options.allow_new_entries}};
}

/// Fails if the journal belongs to a study with other options.
void check_header(const Dict& saved_options, const Dict& new_options, const std::string& path) {
  for (const DictEntry& entry : new_options)
    if (const Value* known_value = saved_options.find(entry.key);
        !known_value || !(*known_value == entry.value))
      fail("the journal '", path, "' is of a search with ", entry.key, " = ",
           known_value ? *known_value : Value(), ", not ", entry.value,
           "; another search needs another journal (or overwrite = true)");
}

uint64_t random_seed() { return std::random_device()() & 0x7fffffffu; }

}  // namespace

void StudyOptions::describe(Schema<StudyOptions>& s) {
  using O = StudyOptions;
  s.doc("What is searched, and how.")
      .field(
          "oracle", &O::oracle,
          "What chooses: \"random\", \"grid\", \"bayesian\", \"hyperband\", or one with options, "
          "{ class_name = \"bayesian\", config = { num_initial_points = 5 } }.")
      .field("direction", &O::direction, "Which scores are good.")
      .choices({"minimize", "maximize"})
      .field("max_trials", &O::max_trials, "How many trials there are; no end when not given.")
      .min(1)
      .field("seed", &O::seed, "What suggestions follow from; drawn when not given.")
      .min(0)
      .field("lag", &O::lag,
             "Trial k is chosen and pruned by the results of the trials up to k - lag: so many "
             "trials can go on at the same time, with the same suggestions for any number of "
             "processes.")
      .min(1)
      .field("pruner", &O::pruner,
             "\"median\", or { percentile = 50, n_startup_trials = 5, n_warmup_steps = 0 }: ends "
             "trials that are worse than earlier ones at the same step.")
      .field("journal", &O::journal,
             "A file that all processes of the search share; in memory when not given.")
      .field("sync", &O::sync, "Whether each record waits for the disk, for failures of power.")
      .field("hyperparameters", &O::hyperparameters,
             "HyperParameters whose definitions count instead of those that trials ask for.")
      .field("tune_new_entries", &O::tune_new_entries,
             "Whether those that are not among `hyperparameters` are searched too; else they have "
             "their defaults.")
      .field("allow_new_entries", &O::allow_new_entries,
             "Whether there may be others than `hyperparameters`.");
}

const SchemaData& Study::options_schema() { return schema_of<StudyOptions>("Study"); }

Study::Study(std::unique_ptr<State> state) : state_(std::move(state)) {}
Study::~Study() = default;

void Study::State::read() {
  journal.read([&](const Value& value) {
    const Dict& record = value.as_dict();
    if (const Value* header = record.find("study")) {
      const uint64_t seed = options.seed
                                ? static_cast<uint64_t>(*options.seed)
                                : static_cast<uint64_t>(header->as_dict().at("seed").as_int());
      check_header(header->as_dict(), header_of(options, seed), journal.path());
      history.seed = seed, has_header = true;
    } else {
      apply_record(history, record);
      if (const Value* asked_number = record.find("ask"))
        running_trials.insert(asked_number->as_int());
      if (const Value* told_number = record.find("tell"))
        running_trials.erase(told_number->as_int());
    }
  });
}

void Study::State::write(const Dict& record) {
  journal.append(record);
  apply_record(history, record);
}

bool Study::State::is_ready(int64_t number) const {
  return (!pruner || history.ended_through(history.horizon(number))) &&
         options.oracle->ready(history, number);
}

StudyPtr Study::open(const Dict& option_values) {
  StudyOptions options;
  options_schema().configure(&options, option_values);
  auto state = std::make_unique<State>(std::move(options));
  state->history.lag = state->options.lag;
  state->history.minimizes = state->options.direction == "minimize";
  {
    const Journal::Lock lock(state->journal);
    state->read();
    if (!state->has_header) {
      state->history.seed =
          state->options.seed ? static_cast<uint64_t>(*state->options.seed) : random_seed();
      state->journal.append(Dict{{"study", header_of(state->options, state->history.seed)}});
      state->has_header = true;
    }
  }
  return StudyPtr(new Study(std::move(state)));
}

void Study::update() {
  const Journal::Lock lock(state_->journal);
  state_->read();
}

const TrialHistory& Study::history() const { return state_->history; }
const StudyOptions& Study::options() const { return state_->options; }

TrialPtr Study::try_ask(bool* ended) {
  State& s = *state_;
  const auto this_study = std::static_pointer_cast<Study>(shared_from_this());
  const auto start_trial = [&](int64_t number) {
    s.own_trials.emplace(number, State::Clock::now());
    return std::make_shared<Trial>(this_study, number);
  };
  *ended = false;
  const Journal::Lock lock(s.journal);
  s.read();
  bool others_are_running = false;
  for (const int64_t number : s.running_trials) {
    if (s.own_trials.count(number)) continue;
    if (s.journal.try_hold(number)) return start_trial(number);
    others_are_running = true;
  }
  while (s.history.at(s.first_unasked).state != TrialRecord::State::unasked) ++s.first_unasked;
  int64_t max_trial = INT64_MAX;
  if (s.options.max_trials) max_trial = *s.options.max_trials;
  if (const auto trial_limit = s.options.oracle->trials())
    max_trial = std::min(max_trial, *trial_limit);
  bool must_wait = false;
  for (int64_t number = s.first_unasked; number <= max_trial; ++number) {
    if (s.history.at(number).state != TrialRecord::State::unasked) continue;
    if (!s.is_ready(number)) {
      must_wait = true;
      if (s.options.oracle->is_out_of_order()) continue;
      break;
    }
    const auto suggestion = s.options.oracle->suggest(s.history, number);
    if (!suggestion) break;
    if (!s.journal.try_hold(number)) fail("trial ", number, " is locked without being asked for");
    s.write(ask_record(number, *suggestion));
    s.running_trials.insert(number);
    return start_trial(number);
  }
  *ended = !must_wait && !others_are_running;
  if (must_wait && !others_are_running)
    fail("ask: the next trial is chosen from the results of trials that were asked for here and ",
         "not told: tell those first, or ask for fewer at a time (lag = ", s.options.lag, ")");
  return nullptr;
}

TrialPtr Study::ask() {
  auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(kShortestWait);
  for (bool is_ended = false; !is_ended;) {
    if (TrialPtr trial = try_ask(&is_ended)) return trial;
    if (is_ended) break;
    heed_interruption("trials of other processes went on");
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::milliseconds>(2 * pause, kLongestWait);
  }
  return nullptr;
}

void Study::tell(Trial& trial, std::optional<double> score, TrialRecord::State state,
                 const std::string& message) {
  State& s = *state_;
  if (&trial.study() != this) fail("tell: trial ", trial.number(), " is of another study");
  if (!s.own_trials.count(trial.number()))
    fail("tell: trial ", trial.number(), " has ended already, or is not run here any more");
  if (state < TrialRecord::State::complete) fail("tell: a trial ends complete, pruned or failed");
  if (!score && state == TrialRecord::State::complete)
    fail("tell: trial ", trial.number(), " has no score; expected a number, or the state ",
         "\"pruned\" or \"failed\"");
  trial.save_values();
  const Journal::Lock lock(s.journal);
  s.read();
  TrialRecord trial_record;
  trial_record.number = trial.number(), trial_record.state = state, trial_record.score = score;
  trial_record.message = message;
  const std::chrono::duration<double> elapsed =
      State::Clock::now() - s.own_trials.at(trial.number());
  trial_record.seconds = elapsed.count();
  s.write(tell_record(trial_record));
  s.running_trials.erase(trial.number());
  s.own_trials.erase(trial.number());
  s.journal.release(trial.number());
}

}  // namespace crescent
