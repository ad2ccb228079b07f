#include "executor/prepack_stage.h"

#include <algorithm>
#include <unordered_map>

namespace crescent::cpu {
namespace {

/// A text that identifies a layout (InputConversion::form) and that no other prepacked value has.
std::string unique_form() {
  static std::atomic<uint64_t> count{0};
  return concat("form ", ++count);
}

/// Finds in the cache, by key, the prepacked value for each value that a prepack stage reads or
/// computes.
class PrepackedByKey {
 public:
  PrepackedByKey(const Schedule& schedule, const Program& source, const Options& options,
                 PrepackCache& cache)
      : schedule_(schedule), options_(options), cache_(cache) {
    for (const Program::Constant& c : schedule.constants) add_constant(c);
    for (size_t v = 0; v < schedule.variables.size(); ++v) {
      PrepackKey key{nullptr, "variable", 0, {spec(schedule.variables[v].value)}, {}, nullptr, {}};
      key.variable = source.variables[v].variable.id();
      add(schedule.variables[v].value, std::move(key));
    }
    for (size_t s = 0; s < schedule.prepack_steps; ++s) add_step(schedule.steps[s]);
  }
  const PrepackedValuePtr& of(int value) const {
    return prepacked_by_root_.at(schedule_.root(value));
  }

 private:
  const TensorSpec& spec(int value) const { return schedule_.values[value]; }
  void add(int value, PrepackKey key) {
    prepacked_by_root_.emplace(schedule_.root(value), cache_.find(std::move(key)));
  }
  void add_constant(const Program::Constant& c) {
    const Contents contents = c.tensor.contents();
    add(c.value, {nullptr,
                  contents.storage == 0 ? unique_form() : "constant",
                  0,
                  {spec(c.value)},
                  {},
                  nullptr,
                  contents});
  }
  void add_step(const cpu::Step& step) {
    PrepackKey key;
    key.op = step.op;
    key.form = step.op             ? step.kernel->name() + (options_.deterministic ? "!" : "")
               : step.form.empty() ? unique_form()
                                   : step.form;
    for (int value : step.inputs) {
      key.specs.push_back(spec(value));
      key.from.push_back(of(value));
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      PrepackKey output_key = key;
      output_key.output = static_cast<int>(i);
      output_key.specs.push_back(spec(step.outputs[i]));
      add(step.outputs[i], std::move(output_key));
    }
  }

  const Schedule& schedule_;
  const Options& options_;
  PrepackCache& cache_;
  /// For each root value (Schedule::root), its prepacked value in the cache.
  std::unordered_map<int, PrepackedValuePtr> prepacked_by_root_;
};

}  // namespace

PrepackStage::PrepackStage(const Schedule& schedule, const MemoryPlan& plan, const Program& source,
                           const Options& options, PrepackCache& cache)
    : cache_(cache) {
  if (schedule.prepack_steps == 0) return;
  const PrepackedByKey prepacked(schedule, source, options, cache);
  std::unordered_map<int, size_t> cached_index_of, producer_of, variable_of;  // keys: root values
  for (size_t v = 0; v < schedule.variables.size(); ++v)
    variable_of.emplace(schedule.root(schedule.variables[v].value), v);
  for (int value : plan.prepacked) {
    add_cached(source, prepacked.of(value), schedule.bytes(value));
    cached_index_of.emplace(schedule.root(value), cached_indices_.back());
  }
  for (size_t s = 0; s < schedule.prepack_steps; ++s) {
    const cpu::Step& source_step = schedule.steps[s];
    Step& step = steps_.emplace_back(Step{{}, {}, !source_step.outputs.empty()});
    for (int value : source_step.inputs) {
      const int root = schedule.root(value);
      if (auto producer = producer_of.find(root);
          producer != producer_of.end() && !cached_index_of.contains(root))
        step.producer_steps.push_back(producer->second);
      auto variable = variable_of.find(root);
      if (variable != variable_of.end() && std::find(read_variables_.begin(), read_variables_.end(),
                                                     variable->second) == read_variables_.end())
        read_variables_.push_back(variable->second);
    }
    for (int value : source_step.outputs) {
      producer_of.emplace(schedule.root(value), s);
      if (auto cached_index = cached_index_of.find(schedule.root(value));
          cached_index != cached_index_of.end())
        step.cached_indices.push_back(cached_index->second);
    }
  }
}

void PrepackStage::add_cached(const Program& source, PrepackedValuePtr value, size_t bytes) {
  const auto cached_value =
      std::find_if(cached_values_.begin(), cached_values_.end(),
                   [&](const CachedValue& cached) { return cached.value == value; });
  cached_indices_.push_back(static_cast<size_t>(cached_value - cached_values_.begin()));
  if (cached_value != cached_values_.end()) return;
  CachedValue cached{std::move(value), bytes, {}, {}};
  for (const void* id : cached.value->variables()) {
    const auto found =
        std::find_if(source.variables.begin(), source.variables.end(),
                     [&](const Program::Binding& b) { return b.variable.id() == id; });
    cached.variables.push_back(static_cast<size_t>(found - source.variables.begin()));
  }
  cached_values_.push_back(std::move(cached));
}

bool PrepackStage::is_valid(const State& state, const std::vector<Contents>& contents) const {
  if (!state.was_made) return false;
  for (size_t r = 0; r < read_variables_.size(); ++r) {
    if (!(contents[read_variables_[r]] == state.contents[r])) return false;
  }
  for (size_t c = 0; c < cached_values_.size(); ++c) {
    if (cached_values_[c].value->version() != state.versions[c]) return false;
  }
  return true;
}

namespace {

std::vector<Contents> contents_of(const std::vector<Contents>& contents,
                                  const std::vector<size_t>& variables) {
  std::vector<Contents> selected_contents;
  for (size_t v : variables) selected_contents.push_back(contents[v]);
  return selected_contents;
}

}  // namespace

/// Marks the steps that must run: those that compute values that are out of date, the earlier steps
/// on which these depend, and all steps that only check values.
void PrepackStage::find_needed_steps(const std::vector<Contents>& contents, std::byte** arguments,
                                     PrepackCache::ExclusiveUpdate& update) {
  for (CachedValue& cached : cached_values_)
    cached.is_stale = !update.is_current(*cached.value, contents_of(contents, cached.variables));
  for (Step& step : steps_) step.must_run = !step.has_results;
  for (size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    for (size_t k : step.cached_indices)
      step.must_run = step.must_run || cached_values_[k].is_stale;
    if (!step.must_run) continue;
    for (size_t k : step.cached_indices) cached_values_[k].is_stale = true;
    for (size_t producer : step.producer_steps) steps_[producer].must_run = true;
  }
  for (CachedValue& cached : cached_values_) {
    std::byte* memory =
        cached.is_stale ? update.begin(*cached.value, cached.bytes) : update.memory(*cached.value);
    for (size_t argument : cached.arguments) arguments[argument] = memory;
  }
}

void PrepackStage::end(State& state, const std::vector<Contents>& contents,
                       PrepackCache::ExclusiveUpdate& update) {
  for (size_t c = 0; c < cached_values_.size(); ++c) {
    const CachedValue& cached = cached_values_[c];
    if (cached.is_stale) update.end(*cached.value, contents_of(contents, cached.variables));
    state.versions[c] = cached.value->version();
  }
  for (size_t r = 0; r < read_variables_.size(); ++r)
    state.contents[r] = contents[read_variables_[r]];
  state.was_made = true;
}

}  // namespace crescent::cpu
