// profile: times the instructions of a step and restores the variables that the step changed.
#include <algorithm>
#include <chrono>

#include "crescent/tensor/variable.h"
#include "system/operation.h"
#include "training/inspection/profile_tables.h"
#include "training/metrics_scope.h"
#include "training/pass.h"
#include "training/sharing/shared_step.h"

namespace crescent {
namespace {

using Clock = std::chrono::steady_clock;

// The time in seconds for which steps are run and timed, unless the number of steps is given.
constexpr double kMeasuredSeconds = 0.25;
constexpr double kClockTick = 1e-9;                  // resolution of the clock in seconds
constexpr int64_t kMinSteps = 3, kMaxSteps = 10000;  // limits of the number of steps

/// While an object of this class lives, the executable times its instructions.
class ExecutableTiming {
 public:
  explicit ExecutableTiming(Executable& executable) : executable_(executable) {
    executable_.profile(true);
  }
  ~ExecutableTiming() { executable_.profile(false); }
  ExecutableTiming(const ExecutableTiming&) = delete;

 private:
  Executable& executable_;
};

/// Runs `count` steps and returns the average time of a step in seconds.
double time_steps(const CompiledStep& step, int64_t count) {
  Tensors outputs;
  const auto start_time = Clock::now();
  for (int64_t run = 0; run < count; ++run) {
    if (interrupted())
      throw Interrupted(concat("profile: interrupted after step ", run, " of ", count));
    step.function.call(step.inputs, outputs, step.function_key);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start_time).count();
  return std::max(seconds, kClockTick) / static_cast<double>(count);
}

/// Returns the StepExtras with which fit would run a training step. With op determinism, fit
/// computes a batch in logical shards. The profile does so only if there is a single process,
/// because otherwise other processes would have to compute some of the shards.
StepExtras step_extras_as_in_fit(Model& model, const Profile& profile) {
  StepExtras extras;
  if (communicator()->size() == 1)
    extras.share = group_for(model, "profile", ProcessGroup::current()).share(profile.batch_size);
  return extras;
}

/// Merges the rows of equal instructions of one layer, and divides totals by the number of steps.
std::vector<ProfileEntry> rows_per_step(const std::vector<ProfileEntry>& instructions) {
  std::vector<ProfileEntry> rows;
  for (const ProfileEntry& instruction : instructions) {
    if (instruction.calls == 0) continue;
    const double steps = static_cast<double>(instruction.calls);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const ProfileEntry& candidate) {
      return candidate.scope == instruction.scope && candidate.op == instruction.op &&
             candidate.shapes == instruction.shapes && candidate.kernel == instruction.kernel;
    });
    if (row == rows.end()) {
      rows.push_back({instruction.scope, instruction.op, instruction.shapes, instruction.kernel});
      row = rows.end() - 1;
      row->parts = instruction.parts, row->largest_part = instruction.largest_part;
    }
    ++row->calls;
    row->seconds += instruction.seconds / steps;
    row->flops += instruction.flops / steps;
    row->bytes += instruction.bytes / steps;
    for (size_t c = 0; c < kProfiledCores.size(); ++c)
      row->seconds_on[c] += instruction.seconds_on[c] / steps;
  }
  return rows;
}

}  // namespace

Profile Model::profile(const Tensors& x, const Tensors& y, const Dict& option_values) {
  const LongOperation operation;
  const MetricsScope metrics_scope(*this, "profile");
  const StepLock lock(*this);
  const ProfileOptions options = parse<ProfileOptions>("profile", option_values);
  if (!y.empty()) check_compiled(*this);
  if (training_->spec.is_compiled && training_->spec.options.run_eagerly)
    fail("profile: a model that runs eagerly has no compiled step");
  const Arrays arrays{x, y, {}};
  check_arrays(*this, arrays);
  Profile profile;
  profile.batch_size = std::min(options.batch_size.value_or(kDefaultBatchSize), arrays.samples());
  const Arrays batch = rows(arrays, 0, profile.batch_size);

  Stepper stepper(*this);
  const CompiledStep step =
      y.empty()
          ? stepper.compiled_predict(batch.x)
          : stepper.compiled_train({batch.x, batch.y, {}}, step_extras_as_in_fit(*this, profile));
  const Transaction transaction;  // the destructor restores the variables
  time_steps(step, 1);            // the first run is not measured, because it takes longer
  const int64_t step_count = std::clamp(
      static_cast<int64_t>(kMeasuredSeconds / time_steps(step, 1)), kMinSteps, kMaxSteps);
  const int64_t steps = options.steps.value_or(step_count);
  profile.seconds = time_steps(step, steps);
  const auto executable = step.function.executable(step.inputs, step.function_key);
  {
    const ExecutableTiming timing(*executable);
    time_steps(step, steps);
  }
  profile.rows = rows_per_step(executable->rows());
  profile.lines = profile_tables(*this, profile, options);
  return profile;
}

}  // namespace crescent
