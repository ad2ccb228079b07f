#include "executor/plan.h"

#include <algorithm>
#include <chrono>

#include "crescent/program/activity.h"
#include "crescent/program/communicator.h"
#include "crescent/program/distribution.h"
#include "crescent/program/shard_ops.h"
#include "kernel/composed.h"
#include "threads/flush_denormals.h"
#include "tiling/sliced.h"

namespace crescent::cpu {

Plan::Plan(const Program& program, const Options& options, Pool& pool, PrepackCache& cache,
           ExchangeThread* exchange_thread)
    : pool_(pool), cache_(cache), exchange_thread_(exchange_thread) {
  const std::optional<Program> sliced = by_slices(program);
  Schedule schedule(sliced ? *sliced : program, options, pool);
  const MemoryPlan plan(schedule);
  if (schedule.prepack_steps > 0) prepack_stage_.emplace(schedule, plan, program, options, cache);
  link(schedule, plan);
  describe(schedule, program.scopes);
  find_shards(sliced ? *sliced : program, schedule);
  for (Step& step : schedule.steps) kernels_.push_back(std::move(step.kernel));
  for (const auto& [value, result] : schedule.variables) is_written_.push_back(result >= 0);
}

/// Converts the locations in the memory plan to pointers.
void Plan::link(const Schedule& schedule, const MemoryPlan& plan) {
  input_count_ = schedule.inputs.size(), output_count_ = schedule.outputs.size();
  for (const Program::Constant& c : schedule.constants)
    constants_.push_back(cache_.constants().shared(c.tensor));
  arena_bytes_ = plan.arena_bytes;

  auto add_argument = [&](int value) {
    const Location& location = plan.locations[schedule.root(value)];
    size_t index = location.index;
    const size_t argument = arguments_.size();
    arguments_.push_back(nullptr);
    switch (location.kind) {
      case Location::Kind::input:
        input_arguments_.push_back({argument, index});
        break;
      case Location::Kind::output:
        output_arguments_.push_back({argument, index});
        break;
      case Location::Kind::variable:
        variable_arguments_.push_back({argument, index});
        break;
      case Location::Kind::constant:
        arguments_.back() =
            const_cast<std::byte*>(static_cast<const std::byte*>(constants_[index].raw()));
        break;
      case Location::Kind::arena:
        arena_arguments_.push_back({argument, location.offset});
        break;
      case Location::Kind::prepacked:
        prepack_stage_->add_argument(index, argument);
        break;
      case Location::Kind::none:
        break;
    }
  };
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    const size_t first = arguments_.size();
    for (int value : step.inputs) add_argument(value);
    for (int value : step.outputs) add_argument(value);
    calls_.push_back({step.kernel.get(), first, first + step.inputs.size(), plan.scratch_offsets[s],
                      step.is_overlapped, step.awaits_exchanges});
    can_overlap_ = can_overlap_ || (exchange_thread_ && step.is_overlapped);
    result_values_.push_back(step.outputs);
  }
}

namespace {

/// A shape as text such as "128x784", preceded by the dtype unless that is float32.
std::string shape_text(const TensorSpec& spec) {
  std::string text = spec.dtype == DType::float32 ? "" : concat(spec.dtype, " ");
  if (spec.shape.rank() == 0) return text + "scalar";
  for (int64_t dim : spec.shape) text += concat(text.empty() || text.back() == ' ' ? "" : "x", dim);
  return text;
}

/// The shapes of `values` as text; a shape that occurs several times is listed once.
std::string shapes_text(const std::vector<int>& values, const TensorSpecs& specs) {
  std::vector<std::string> texts;
  for (int value : values) {
    std::string text = shape_text(specs[value]);
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  return crescent::join(texts);
}

/// Whether an op reads only some elements of its first input, as many as its result has.
bool reads_selection(const Op& op) {
  return op.name() == "gather" || op.name() == "take_along" || op.name() == "slice";
}

}  // namespace

void Plan::describe(const Schedule& schedule, const std::vector<std::string>& scopes) {
  for (const Step& step : schedule.steps) {
    ProfileEntry entry;
    size_t scope_index = step.scope;
    entry.scope = scope_index < scopes.size() ? scopes[scope_index] : "";
    entry.op = step.op                                    ? step.op->label()
               : profile_.size() < schedule.prepack_steps ? "prepare"
                                                          : "copy";
    entry.shapes = shapes_text(step.inputs, schedule.values) + " -> " +
                   shapes_text(step.outputs, schedule.values);
    entry.kernel = step.kernel->name();
    entry.flops = step.kernel->flops();
    const bool is_selection = step.op && reads_selection(*step.op);
    for (int value : is_selection ? step.outputs : step.inputs)
      entry.bytes += static_cast<double>(schedule.bytes(value));
    for (int value : step.outputs) entry.bytes += static_cast<double>(schedule.bytes(value));
    profile_.push_back(std::move(entry));
  }
  tallies_ = std::vector<Tally>(profile_.size());
}

namespace {

/// The number of logical shards of a program; 0 if it has none.
int64_t shards_in(const Program& program) {
  for (const Program::Instruction& instruction : program.code)
    if (instruction.op->name() == ShardConcat::kName ||
        instruction.op->name() == ShardReduce::kName)
      return static_cast<int64_t>(instruction.inputs.size());
  return 0;
}

/// The logical shard to which all of these values belong; fails if they belong to several. `shards`
/// contains the shard of each value of the program.
int common_shard(const std::vector<int>& values, const std::vector<int>& shards) {
  const auto shard_of = [&](int value) { return shards[static_cast<size_t>(value)]; };
  for (int value : values)
    if (shard_of(value) != shard_of(values[0]))
      fail("an instruction has results of several logical shards");
  return shard_of(values[0]);
}

}  // namespace

void Plan::find_shards(const Program& program, const Schedule& schedule) {
  shard_count_ = shards_in(program);
  if (shard_count_ == 0) return;
  std::vector<int> shards = shards_of_values(program);
  shards.resize(schedule.values.size(), -1);
  for (const Step& step : schedule.steps) {
    int shard = -1;
    for (int value : step.inputs) shard = std::max(shard, shards[static_cast<size_t>(value)]);
    const bool is_ordered = step.op && step.op->effect() == Effect::ordered;
    const bool is_new =
        !step.outputs.empty() && static_cast<size_t>(step.outputs[0]) >= program.values.size();
    if (is_new)
      for (int value : step.outputs) shards[static_cast<size_t>(value)] = shard;
    const int result_shard = step.outputs.empty() ? shard : common_shard(step.outputs, shards);
    if (!is_ordered && shard >= 0 && result_shard != shard)
      fail("an instruction for all processes reads values of logical shard ", shard);
    shards_.push_back(result_shard);
  }
}

void Plan::profile(bool on, bool measures_parts) {
  profiles_runs_ = on, observes_runs_ = on || watcher_;
  for (const Call& call : calls_) {
    if (auto* composed_kernel = dynamic_cast<ComposedKernel*>(call.kernel))
      composed_kernel->profile(on);
  }
  if (!on) return;
  for (Tally& tally : tallies_) tally.calls = 0, tally.seconds = 0;
  if (measures_parts) traces_.assign(calls_.size(), {});
}

Plan::Frame::Frame(const Plan& plan) : arguments_(plan.arguments_) {
  memory_.inputs.resize(plan.input_count_);
  memory_.variables.resize(plan.is_written_.size());
  memory_.contents.resize(plan.is_written_.size());
  memory_.outputs.resize(plan.output_count_);
  if (plan.prepack_stage_) prepacked_ = plan.prepack_stage_->new_state();
}

void Plan::point_to_arena(Frame& frame, std::byte* arena) const {
  frame.arena_ = arena;
  for (const auto& [argument, offset] : arena_arguments_)
    frame.arguments_[argument] = arena + offset;
}

void Plan::point_to_memory(Frame& frame, std::byte* arena) const {
  std::byte** const to = frame.arguments_.data();
  for (const auto& [argument, i] : input_arguments_) to[argument] = frame.memory_.inputs[i];
  for (const auto& [argument, i] : variable_arguments_) to[argument] = frame.memory_.variables[i];
  for (const auto& [argument, i] : output_arguments_) to[argument] = frame.memory_.outputs[i];
  if (arena != frame.arena_) point_to_arena(frame, arena);
}

/// Runs the prepack stage if a variable that it reads has changed. The caller must hold an
/// ExecutionScope of the prepack cache.
void Plan::update_prepacked(Frame& frame) {
  const std::vector<Contents>& contents = frame.memory_.contents;
  if (prepack_stage_->is_valid(frame.prepacked_, contents)) return;
  prepack_stage_->make(frame.prepacked_, contents, frame.arguments_.data(),
                       [&](size_t s) { run_calls(frame, s, s + 1); });
}

void Plan::prepare(Frame& frame, std::byte* arena) {
  if (!prepack_stage_) return;
  const FlushDenormals flush;
  point_to_memory(frame, arena);
  const PrepackCache::ExecutionScope scope(cache_);
  update_prepacked(frame);
}

void Plan::run(Frame& frame, std::byte* arena, bool is_observed) {
  const FlushDenormals flush;
  frame.is_observed_ = is_observed;
  point_to_memory(frame, arena);
  if (!prepack_stage_) return run_calls(frame, 0, calls_.size());
  const PrepackCache::ExecutionScope scope(cache_);
  update_prepacked(frame);
  run_calls(frame, prepack_stage_->steps(), calls_.size());
}

void Plan::run_calls(const Frame& frame, size_t first, size_t last) {
  size_t i = first;
  try {
    if (frame.is_observed_ || shard_count_ > 0 || is_tracking_activity() || can_overlap_)
      run_carefully(frame, i, last);
    for (; i < last; ++i) run(frame, calls_[i]);
  } catch (DataError& error) {
    if (const std::string& scope = profile_[i].scope; !scope.empty())
      error.add_context(scope + ": ");
    throw;
  }
}

bool Plan::overlaps(const Frame& frame) const {
  return can_overlap_ && !frame.is_observed_ && communicator()->size() > 1;
}

namespace {

/// Awaits the exchanges that are still running when a run fails, because they use its memory.
class ExchangeGuard {
 public:
  explicit ExchangeGuard(ExchangeThread* thread) : thread_(thread) {}
  ~ExchangeGuard() {
    if (thread_) thread_->wait_quietly();
  }
  ExchangeGuard(const ExchangeGuard&) = delete;

 private:
  ExchangeThread* thread_;
};

}  // namespace

void Plan::run_carefully(const Frame& frame, size_t& i, size_t last) {
  const ShardRange own_range = shard_count_ > 0 ? own_shards(shard_count_) : ShardRange{};
  const auto belongs_to_others = [&](size_t call) {
    return shard_count_ > 0 && shards_[call] >= 0 &&
           (shards_[call] < own_range.first || shards_[call] >= own_range.last);
  };
  const bool reports_activity = is_tracking_activity();
  ExchangeThread* const thread = overlaps(frame) ? exchange_thread_ : nullptr;
  const ExchangeGuard guard(thread);
  const auto report_activity = [&](size_t call) {
    if (reports_activity) enter_instruction(profile_[call].op, profile_[call].scope);
  };
  size_t last_exchange = i;
  for (; i < last; ++i) {
    const Call& call = calls_[i];
    if (thread && call.awaits_exchanges) report_activity(last_exchange), thread->wait();
    if (belongs_to_others(i)) continue;
    report_activity(i);
    if (thread && call.is_overlapped) {
      last_exchange = i;
      thread->begin({call.kernel, arguments(frame, call), profile_[i].op, profile_[i].scope});
    } else {
      frame.is_observed_ ? run_observed(frame, i) : run(frame, call);
    }
  }
}

void Plan::run_observed(const Frame& frame, size_t i) {
  profiles_runs_ ? run_timed(frame, i) : run(frame, calls_[i]);
  if (watcher_) notify_watcher(frame, i);
}

void Plan::watch(Executable::Watcher watcher) {
  watcher_ = std::move(watcher);
  observes_runs_ = profiles_runs_ || watcher_;
}

void Plan::notify_watcher(const Frame& frame, size_t i) const {
  for (size_t o = 0; o < result_values_[i].size(); ++o)
    watcher_(result_values_[i][o], calls_[i].kernel->name(),
             frame.arguments_[calls_[i].outputs + o]);
}

void Plan::run_timed(const Frame& frame, size_t i) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  {
    std::optional<WorkTrace::Recording> traced;
    if (!traces_.empty()) traced.emplace(traces_[i]);
    run(frame, calls_[i]);
  }
  tallies_[i].seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  ++tallies_[i].calls;
}

double Plan::flops() const {
  double flops = 0;
  for (const ProfileEntry& entry : profile_) flops += entry.flops;
  return flops;
}

size_t Plan::bytes() const {
  // The approximate bytes that a kernel, its step and its profile row take; the number was
  // measured.
  constexpr size_t kBytesPerStep = 5120;
  return sizeof *this + kBytesPerStep * calls_.size() + arguments_.capacity() * sizeof(Argument);
}

ProfileEntry Plan::profile_row(size_t i) const {
  ProfileEntry row = profile_[i];
  row.calls = tallies_[i].calls, row.seconds = tallies_[i].seconds;
  const auto calls = static_cast<double>(row.calls);
  row.flops *= calls;
  row.bytes *= calls;
  if (row.calls == 0 || traces_.empty()) return row;
  const WorkTrace& trace = traces_[i];
  row.parts = trace.parts(), row.largest_part = trace.largest_part();
  for (size_t c = 0; c < kProfiledCores.size(); ++c)
    row.seconds_on[c] = calls * trace.seconds_on(kProfiledCores[c]);
  return row;
}

namespace {

/// Appends the profile rows of the instructions that are executed within an instruction
/// (`whole_entry`), with the time of each scaled to its share of the time of the whole.
void add_shares(const ProfileEntry& whole_entry, std::vector<ProfileEntry> inner_rows,
                std::vector<ProfileEntry>& rows) {
  double seconds = 0;
  for (const ProfileEntry& row : inner_rows) seconds += row.seconds;
  if (seconds == 0) return rows.push_back(whole_entry);
  for (ProfileEntry& row : inner_rows) {
    const double share = row.seconds / seconds;
    row.calls = whole_entry.calls, row.seconds = share * whole_entry.seconds;
    for (size_t c = 0; c < kProfiledCores.size(); ++c)
      row.seconds_on[c] = share * whole_entry.seconds_on[c];
    row.parts = whole_entry.parts, row.largest_part = whole_entry.largest_part;
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<ProfileEntry> Plan::rows() const {
  std::vector<ProfileEntry> rows;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (const auto* composed_kernel = dynamic_cast<const ComposedKernel*>(calls_[i].kernel))
      add_shares(profile_row(i), composed_kernel->rows(), rows);
    else
      rows.push_back(profile_row(i));
  }
  return rows;
}

}  // namespace crescent::cpu
