#include "executor/prologue.h"

#include <algorithm>
#include <unordered_map>

namespace crescent::cpu {
namespace {

/// A form that nothing else has.
std::string unique_form() {
  static std::atomic<uint64_t> count{0};
  return concat("form ", ++count);
}

/// How each value of a prologue is made.
class Recipes {
 public:
  Recipes(const Lowered& program, const Program& source, const Options& options,
          StableValues& values)
      : program_(program), options_(options), values_(values) {
    for (const Program::Constant& c : program.constants) add_constant(c);
    for (size_t v = 0; v < program.variables.size(); ++v) {
      Recipe recipe{nullptr, "variable", 0, {spec(program.variables[v].value)}, {}, nullptr, {}};
      recipe.variable = source.variables[v].variable.id();
      add(program.variables[v].value, std::move(recipe));
    }
    for (size_t s = 0; s < program.prologue; ++s) add_step(program.steps[s]);
  }
  const StableValuePtr& of(int value) const { return known_.at(program_.root(value)); }

 private:
  const TensorSpec& spec(int value) const { return program_.values[static_cast<size_t>(value)]; }
  void add(int value, Recipe recipe) {
    known_.emplace(program_.root(value), values_.find(std::move(recipe)));
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
    Recipe recipe;
    recipe.op = step.op;
    recipe.form = step.op             ? step.kernel->name() + (options_.deterministic ? "!" : "")
                  : step.form.empty() ? unique_form()
                                      : step.form;
    for (int value : step.inputs) {
      recipe.specs.push_back(spec(value));
      recipe.from.push_back(of(value));
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      Recipe own = recipe;
      own.output = static_cast<int>(i);
      own.specs.push_back(spec(step.outputs[i]));
      add(step.outputs[i], std::move(own));
    }
  }

  const Lowered& program_;
  const Options& options_;
  StableValues& values_;
  std::unordered_map<int, StableValuePtr> known_;  ///< by root
};

}  // namespace

Prologue::Prologue(const Lowered& program, const MemoryPlan& plan, const Program& source,
                   const Options& options, StableValues& values)
    : values_(values) {
  if (program.prologue == 0) return;
  const Recipes recipes(program, source, options, values);
  std::unordered_map<int, size_t> kept_as, made_by, variable_of;  // by root
  for (size_t v = 0; v < program.variables.size(); ++v)
    variable_of.emplace(program.root(program.variables[v].value), v);
  for (int value : plan.kept) {
    add_kept(source, recipes.of(value), program.bytes(value));
    kept_as.emplace(program.root(value), place_.back());
  }
  for (size_t s = 0; s < program.prologue; ++s) {
    const cpu::Step& from = program.steps[s];
    Step& step = steps_.emplace_back(Step{{}, {}, !from.outputs.empty()});
    for (int value : from.inputs) {
      const int root = program.root(value);
      if (auto made = made_by.find(root); made != made_by.end() && !kept_as.contains(root))
        step.makers.push_back(made->second);
      auto variable = variable_of.find(root);
      auto is_it = [&](const Read& read) { return read.variable == variable->second; };
      if (variable != variable_of.end() && std::none_of(reads_.begin(), reads_.end(), is_it))
        reads_.push_back({variable->second, {}});
    }
    for (int value : from.outputs) {
      made_by.emplace(program.root(value), s);
      if (auto k = kept_as.find(program.root(value)); k != kept_as.end())
        step.kept.push_back(k->second);
    }
  }
}

void Prologue::add_kept(const Program& source, StableValuePtr value, size_t bytes) {
  const auto same = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const Kept& kept) { return kept.value == value; });
  place_.push_back(static_cast<size_t>(same - kept_.begin()));
  if (same != kept_.end()) return;
  Kept kept{std::move(value), bytes, {}, {}};
  for (const void* id : kept.value->variables()) {
    const auto found =
        std::find_if(source.variables.begin(), source.variables.end(),
                     [&](const Program::Binding& b) { return b.variable.id() == id; });
    kept.variables.push_back(static_cast<size_t>(found - source.variables.begin()));
  }
  kept_.push_back(std::move(kept));
}

bool Prologue::is_valid(const std::vector<Contents>& contents) const {
  if (!was_made_) return false;
  for (const Read& read : reads_) {
    if (!(contents[read.variable] == read.contents)) return false;
  }
  for (const Kept& kept : kept_) {
    if (kept.value->version() != kept.version) return false;
  }
  return true;
}

namespace {

std::vector<Contents> chosen(const std::vector<Contents>& contents,
                             const std::vector<size_t>& variables) {
  std::vector<Contents> list;
  for (size_t v : variables) list.push_back(contents[v]);
  return list;
}

}  // namespace

/// Steps that make what is stale, those before them that they depend on, and all that only check.
void Prologue::find_needed(const std::vector<Contents>& contents, StableValues::Making& making) {
  was_made_ = false;  // unless all succeeds
  for (Kept& kept : kept_)
    kept.is_stale = !making.is_made(*kept.value, chosen(contents, kept.variables));
  for (Step& step : steps_) step.is_needed = !step.has_results;
  for (size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    for (size_t k : step.kept) step.is_needed = step.is_needed || kept_[k].is_stale;
    if (!step.is_needed) continue;
    for (size_t k : step.kept) kept_[k].is_stale = true;
    for (size_t maker : step.makers) steps_[maker].is_needed = true;
  }
  for (Kept& kept : kept_) {
    std::byte* memory =
        kept.is_stale ? making.begin(*kept.value, kept.bytes) : making.memory(*kept.value);
    for (std::byte** argument : kept.arguments) *argument = memory;
  }
}

void Prologue::end(const std::vector<Contents>& contents, StableValues::Making& making) {
  for (Kept& kept : kept_) {
    if (kept.is_stale) making.end(*kept.value, chosen(contents, kept.variables));
    kept.version = kept.value->version();
  }
  for (Read& read : reads_) read.contents = contents[read.variable];
  was_made_ = true;
}

}  // namespace crescent::cpu
